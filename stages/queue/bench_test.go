package queue

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/cputime/cputest"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// poller returns a function that polls for a visitor in a line of n.
func poller(tb testing.TB, n int) func() {
	now := time.Now()
	l := newLine(oneSlot())
	r := newRig(tb, l, func(c *Config) { c.Now = func() time.Time { return now } })
	r.fill()
	for range n / 2 {
		join(tb, l)
	}
	mine := ticketOf(r.do("GET", "/", html))
	for range n / 2 {
		join(tb, l)
	}
	w := pipelinetest.Nowhere{}
	req := request("GET", StatusPath, nil, cookie(mine))
	req = req.WithContext(context.Background())
	return func() {
		now = now.Add(1500 * time.Millisecond)
		clear(w)
		r.p.ServeHTTP(w, req)
	}
}

func TestPollsAllocateNothing(t *testing.T) {
	poll := poller(t, 1000)
	poll()
	// In 1000 polls of 1.5 s the cookies are renewed a few times, which costs
	// allocations, as do the goroutines that an earlier test may have left
	// behind; the average rounds down to nothing.
	if n := allocs.PerRun(1000, poll); n != 0 {
		t.Errorf("%v allocations for each poll", n)
	}
}

func BenchmarkPoll100k(b *testing.B) {
	poll := poller(b, 100_000)
	b.ReportAllocs()
	cputest.Report(b, func() {
		for b.Loop() {
			poll()
		}
	})
}

// lastSlot is a line that notes the slot it gave out last.
type lastSlot struct {
	line.Line
	slot line.Slot
}

func (l *lastSlot) Enter(ctx context.Context, now time.Time, e line.Entry) (line.Decision, error) {
	d, err := l.Line.Enter(ctx, now, e)
	l.slot = d.Slot
	return d, err
}

// visitors are the ways to come to a room that is not busy.
func visitors(s *Stage) map[string]option {
	return map[string]option{
		"new":         html,
		"used ticket": cookie(TicketCookie + "=" + string(s.live.Load().appendTicket(nil, anyTicket()))),
		"pass":        withPass("somebody"),
	}
}

// admitter returns a function that has one page request admitted and gives the
// slot back.
func admitter(tb testing.TB, kind string) func() {
	l := &lastSlot{Line: newLine(oneSlot())}
	r := newRig(tb, l, func(c *Config) { c.Admitted = nil })
	req := request("GET", "/", http.NoBody, html, visitors(r.stage)[kind])
	fresh := pipeline.Visit{W: pipelinetest.Nowhere{}, R: req, Class: pipeline.Page}
	fresh.Client.Key = netip.MustParsePrefix("192.0.2.1/32")
	if kind == "pass" {
		fresh.Pass = pipeline.Pass{State: pipeline.PassValid, ID: [16]byte{1, 2, 3}}
	}
	v := new(pipeline.Visit)
	return func() {
		*v = fresh
		if verdict, err := r.stage.Enter(v); verdict != pipeline.Next || err != nil {
			tb.Fatalf("not admitted: %v %v", verdict, err)
		}
		r.stage.live.Load().Release(v, uint64(l.slot))
	}
}

func TestAdmittingAllocatesNothing(t *testing.T) {
	for kind := range visitors(newRig(t, newLine(oneSlot()), nil).stage) {
		admit := admitter(t, kind)
		if n := allocs.PerRun(1000, admit); n != 0 {
			t.Errorf("%s: %v allocations", kind, n)
		}
	}
}

func BenchmarkAdmit(b *testing.B) {
	for kind := range visitors(newRig(b, newLine(oneSlot()), nil).stage) {
		b.Run(kind, func(b *testing.B) {
			admit := admitter(b, kind)
			b.ReportAllocs()
			for b.Loop() {
				admit()
			}
		})
	}
}

// BenchmarkPage renders the waiting page for newcomers of a crowd.
func BenchmarkPage(b *testing.B) {
	l := newLine(oneSlot())
	r := newRig(b, l, nil)
	r.fill()
	w := pipelinetest.Nowhere{}
	req := request("GET", "/", nil, html, cookie(ticketOf(r.do("GET", "/", html))))
	b.ReportAllocs()
	cputest.Report(b, func() {
		for b.Loop() {
			clear(w)
			r.p.ServeHTTP(w, req)
		}
	})
}
