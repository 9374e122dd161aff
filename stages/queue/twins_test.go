package queue

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func from(addr string) option {
	return func(r *http.Request) { r.RemoteAddr = addr + ":1234" }
}

// live counts the tickets in line.
func (r *rig) live() int { return r.line.Stats(time.Now()).Live }

// TestParallelRequestsShareOnePlace sends the requests of one page at once,
// from a visitor with a pass, and from one whose ticket is used.
func TestParallelRequestsShareOnePlace(t *testing.T) {
	for _, kind := range []string{"pass", "used ticket"} {
		t.Run(kind, func(t *testing.T) {
			r := newRig(t, newLine(oneSlot()), nil)
			r.fill()
			who := withPass("somebody")
			if kind == "used ticket" {
				who = cookie(TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, anyTicket())))
			}
			tickets := make([]string, 20)
			var all sync.WaitGroup
			for i := range tickets {
				all.Go(func() { tickets[i] = ticketOf(r.do("GET", "/", html, who)) })
			}
			all.Wait()
			for _, got := range tickets {
				if got == "" || got != tickets[0] {
					t.Fatalf("tickets %q", tickets)
				}
			}
			if r.live() != 1 || r.strikes.Load() != 0 {
				t.Errorf("%d in line, %d strikes", r.live(), r.strikes.Load())
			}
		})
	}
}

func TestStrangersShareNothing(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	used := cookie(TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, anyTicket())))
	mine := ticketOf(r.do("GET", "/", html, used, from("192.0.2.1")))
	for name, options := range map[string][]option{
		"the ticket copied":   {used, from("192.0.2.2")},
		"no cookie":           {from("192.0.2.1")},
		"no cookie, again":    {from("192.0.2.1")},
		"made up":             {cookie("room_ticket=x"), from("192.0.2.1")},
		"a pass":              {withPass("a"), from("192.0.2.1")},
		"another one":         {withPass("b"), from("192.0.2.1")},
		"one of them, abroad": {withPass("a"), from("192.0.2.3")},
	} {
		had := r.live()
		if got := ticketOf(r.do("GET", "/", append(options, html)...)); got == mine || r.live() != had+1 {
			t.Errorf("%s: ticket %q, %d in line after %d", name, got, r.live(), had)
		}
	}
}

// TestOwnTicketGoesFirst: who has a place keeps it, even with twins elsewhere.
func TestOwnTicketGoesFirst(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	mine := ticketOf(r.do("GET", "/", html))
	for range 3 {
		if got := ticketOf(r.do("GET", "/", html, cookie(mine), withPass("somebody"))); got != mine {
			t.Errorf("the ticket became %q", got)
		}
	}
	if r.live() != 1 {
		t.Errorf("%d in line", r.live())
	}
}

// TestASharedPlaceThatEnded gives a new place when the one shared is gone.
func TestASharedPlaceThatEnded(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	first := ticketOf(r.do("GET", "/", html, withPass("somebody")))
	r.do("POST", LeavePath, cookie(first))
	second := ticketOf(r.do("GET", "/", html, withPass("somebody")))
	if second == first || second == "" {
		t.Errorf("got %q after %q", second, first)
	}
	if third := ticketOf(r.do("GET", "/", html, withPass("somebody"))); third != second || r.live() != 1 {
		t.Errorf("got %q, want %q; %d in line", third, second, r.live())
	}
}

// TestTwinsFromTheDoorMerge has two requests of one visitor outlast the door
// with a place each: they go on with one.
func TestTwinsFromTheDoorMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := oneSlot()
		s.DoorMax, s.DoorWait = 10, 3*time.Second
		r := newRig(t, newLine(s), nil)
		for range 3 {
			release := r.fill()
			time.Sleep(50 * time.Millisecond)
			release()
		}
		r.fill() // and it stays: nobody comes in from the door
		first := atDoor(t, r, html, withPass("somebody"))
		time.Sleep(10 * time.Millisecond)
		second := atDoor(t, r, html, withPass("somebody"))
		a, b := ticketOf(<-first), ticketOf(<-second)
		if a == "" || a != b || r.live() != 1 {
			t.Errorf("tickets %q and %q, %d in line", a, b, r.live())
		}
	})
}

// TestTicketAdmitsOnce sends ten requests with the ticket whose turn it is.
func TestTicketAdmitsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := oneSlot()
		s.DoorMax, s.DoorWait = 100, 3*time.Second
		r := newRig(t, newLine(s), nil)
		release := r.fill()
		time.Sleep(time.Minute) // a slow origin: newcomers are not kept at the door
		mine := ticketOf(r.do("GET", "/", html))
		behind := ticketOf(r.do("GET", "/", html, from("192.0.2.9")))
		time.Sleep(time.Second)
		release()
		if st := decode(t, r.do("GET", StatusPath, cookie(mine))); !st.Ready {
			t.Fatalf("not ready: %+v", st)
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { r.do("GET", "/hold", html, cookie(mine)) })
		}
		synctest.Wait()
		time.Sleep(20 * time.Second)
		if n := r.holding.Load(); n != 1 {
			t.Errorf("%d requests at the origin", n)
		}
		if w := r.do("GET", "/hold", html, cookie(mine), from("192.0.2.7")); ticketOf(w) == "" {
			t.Errorf("a copy of the used ticket got %d", w.Code)
		}
		if st := decode(t, r.do("GET", StatusPath, cookie(behind))); st.Position != 1 {
			t.Errorf("who stood behind is at %d", st.Position)
		}
		close(r.free)
		all.Wait()
	})
}

func TestTwinTableForgetsTheOldest(t *testing.T) {
	var row twinRow
	keys := make([]twinKey, twinWidth+1)
	for i := range keys {
		keys[i] = ticketTwin(line.Ticket{Number: uint64(i + 1)}, keys[i].client)
		row.rememberLocked(&keys[i], line.Ticket{Number: uint64(100 + i)})
	}
	row.rememberLocked(&keys[2], line.Ticket{Number: 500})
	for i, want := range []uint64{0, 101, 500, 103, 104} {
		if got := row.placeLocked(&keys[i]).Number; got != want {
			t.Errorf("key %d: place %d, want %d", i, got, want)
		}
	}
}

func TestPaceTable(t *testing.T) {
	var p paceTable
	now := time.Now()
	a := line.Ticket{Number: 5}
	b := line.Ticket{Number: 5 + uint64(len(p))} // the same cell
	if _, ok := p.since(now, a); ok {
		t.Error("an empty table remembers")
	}
	p.answered(now, a)
	if got, ok := p.since(now.Add(700*time.Millisecond), a); !ok || got != 700*time.Millisecond {
		t.Errorf("got %v %v", got, ok)
	}
	if got, ok := p.since(now.Add(-5*time.Millisecond), a); !ok || got != 0 {
		t.Errorf("an earlier clock: %v %v", got, ok)
	}
	p.answered(now, b)
	if _, ok := p.since(now, a); ok {
		t.Error("the older ticket of a cell is remembered")
	}
}

func TestConfig(t *testing.T) {
	_, err := New(Config{StatusCode: 418})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"no line", "no keyring", "lifetime 0s", "retry-after 0s", "status code 418"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	_, err = New(Config{Line: newLine(oneSlot()), Tickets: keyring(t, "k"), TicketTTL: time.Minute, RetryAfter: time.Second, CookieDomain: "a b"})
	if err == nil || !strings.Contains(err.Error(), "cookie") {
		t.Errorf("a bad cookie domain: %v", err)
	}
}

// TestReplayedTicketIsChurn: a used ticket takes a place like none at all, and
// counts against whoever shows it, save for a visitor who was let in with it.
func TestReplayedTicketIsChurn(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	release := r.fill()
	ticket := ticketOf(r.do("GET", "/", html, from("192.0.2.1")))
	before := r.strikes.Load()
	release()
	if w := r.do("GET", "/", html, cookie(ticket), from("192.0.2.1")); w.Code != http.StatusOK || ticketOf(w) != "" {
		t.Fatalf("the ticket does not let in: %d", w.Code)
	}
	r.fill()
	r.do("GET", "/", html, cookie(ticket), withPass("somebody"), from("192.0.2.1"))
	if got := r.strikes.Load() - before; got != 0 {
		t.Errorf("%d strikes for the visitor it was given to", got)
	}
	for i, address := range []string{"192.0.2.7", "192.0.2.8"} {
		r.do("GET", "/", html, cookie(ticket), from(address))
		if got := r.strikes.Load() - before; int(got) != i+1 {
			t.Errorf("%d strikes after %d replays", got, i+1)
		}
	}
}
