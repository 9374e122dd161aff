package linetest

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// patient is a visitor of testCrowd, who does as told until let in.
type patient struct {
	next   time.Time
	ticket line.Ticket
	come   bool // make a page request, not a poll
	door   *line.Decision
	slot   line.Slot
	until  time.Time // gives the slot back
	done   bool
	place  int
}

// testCrowd has a crowd wait its turn, in steps of 20 ms: everybody gets in,
// about in order, the cap is kept, no position rises, and the origin is full
// most of the time.
func testCrowd(t *testing.T, newLine New) {
	const slots, n, service = 10, 300, 200 * time.Millisecond
	r := open(t, newLine, settings(slots))
	r.configure(func(s *line.Settings) { s.DoorWait = 500 * time.Millisecond })
	rnd := rand.New(rand.NewPCG(5, 6))
	crowd := make([]patient, n)
	for k := range crowd {
		crowd[k].next, crowd[k].come = epoch.Add(time.Duration(k)*5*time.Millisecond), true
	}
	var order []int
	for step := 0; len(order) < n || r.l.Stats(r.now).InFlight > 0; step++ {
		if step > 3000 {
			t.Fatalf("%d of %d let in after a minute", len(order), n)
		}
		r.pass(20 * time.Millisecond)
		for k := range crowd {
			if v := &crowd[k]; r.visit(v, k, service, rnd) {
				order = append(order, k)
			}
		}
		if got := r.l.Stats(r.now).InFlight; got > slots {
			t.Fatalf("invariant 1: %d slots out of %d", got, slots)
		}
	}
	inverted := 0
	for a := range order {
		for b := range a {
			if order[b] > order[a] {
				inverted++
			}
		}
	}
	if share := float64(inverted) / (n * (n - 1) / 2); share > 0.02 {
		t.Errorf("%.4f of the pairs out of order, want at most 0.02", share)
	}
	best := n / slots * service
	if took := r.now.Sub(epoch); took > best*13/10 {
		t.Errorf("the crowd took %v, want at most 1.3 times %v", took, best)
	}
}

// visit does what a visitor does now; it reports whether it was let in.
func (r *room) visit(v *patient, k int, service time.Duration, rnd *rand.Rand) bool {
	r.t.Helper()
	admitted := func(s line.Slot) bool {
		v.slot, v.until, v.door = s, r.now.Add(service), nil
		return true
	}
	switch {
	case v.done:
	case v.slot != 0:
		if !r.now.Before(v.until) {
			r.l.Release(r.now, v.slot)
			v.done = true
		}
	case v.door != nil:
		if d, ok := granted(*v.door); ok {
			return admitted(d.Slot)
		}
		if !r.now.Before(v.door.Until) {
			d := v.door.Door.Leave(r.now, false)
			v.door = nil
			if d.Verdict == line.Admitted {
				return admitted(d.Slot)
			}
			r.told(v, d.Place)
		}
	case r.now.Before(v.next):
	case v.come:
		v.come = false
		switch d := r.enter(back(v.ticket, k)); d.Verdict {
		case line.Admitted:
			return admitted(d.Slot)
		case line.AtDoor:
			v.door = &d
		case line.Waiting:
			r.told(v, d.Place)
		default:
			r.t.Fatalf("visitor %d gets verdict %v", k, d.Verdict)
		}
	default:
		st := r.poll(v.ticket)
		if !st.Known {
			r.t.Fatalf("visitor %d is lost", k)
		}
		r.told(v, st.Place)
		if st.Ready {
			v.come, v.next = true, r.now.Add(time.Duration(rnd.IntN(60))*time.Millisecond)
		}
	}
	return false
}

func (r *room) told(v *patient, p line.Place) {
	r.t.Helper()
	if v.place != 0 && p.Position > v.place {
		r.t.Fatalf("a position rose from %d to %d", v.place, p.Position)
	}
	v.ticket, v.place, v.next = p.Ticket, p.Position, r.now.Add(p.PollAfter)
}

// testConcurrent has many goroutines use the line at once. It is worth most
// under the race detector.
func testConcurrent(t *testing.T, newLine New) {
	const slots = 5
	r := open(t, newLine, settings(slots))
	var out, peak, clock atomic.Int64
	now := func() time.Time { return epoch.Add(time.Duration(clock.Add(int64(time.Millisecond)))) }
	serve := func(s line.Slot) {
		n := out.Add(1)
		for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
		}
		out.Add(-1)
		r.l.Release(now(), s)
	}
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			ticket := line.Ticket{}
			for range 50 {
				d, err := r.l.Enter(t.Context(), now(), back(ticket, g))
				if err != nil {
					t.Error(err)
					return
				}
				ticket = line.Ticket{}
				switch d.Verdict {
				case line.Admitted:
					serve(d.Slot)
				case line.AtDoor:
					if g%2 == 0 {
						<-d.Door.Done()
					}
					switch got := d.Door.Leave(now(), g%3 == 0); got.Verdict {
					case line.Admitted:
						serve(got.Slot)
					case line.Waiting:
						ticket = got.Place.Ticket
					}
				case line.Waiting:
					ticket = d.Place.Ticket
					if _, err := r.l.Poll(t.Context(), now(), ticket); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	stop := make(chan struct{})
	var driver sync.WaitGroup
	driver.Go(func() { // stands in for line.Drive, whose clock is another
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := r.l.Advance(t.Context(), now()); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	all.Wait()
	close(stop)
	driver.Wait()
	if got := peak.Load(); got > slots {
		t.Errorf("invariant 1: %d slots out at once, want at most %d", got, slots)
	}
	if st := r.l.Stats(now()); st.InFlight != 0 {
		t.Errorf("%d slots out at the end, want none", st.InFlight)
	}
}
