package queue

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func TestApply(t *testing.T) {
	l := newLine(oneSlot())
	r := newRig(t, l, nil)
	r.fill()
	mine := cookie(ticketOf(r.do("GET", "/", html)))
	before := r.stage.Stats()
	c := r.stage.live.Load().cfg
	c.StatusCode, c.RetryAfter = http.StatusServiceUnavailable, 17*time.Second
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	if w := r.do("GET", "/", html, mine); w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d, want the new one", w.Code)
	}
	if w := r.do("GET", "/", accept("*/*"), mine); w.Header().Get("Retry-After") != "17" {
		t.Errorf("Retry-After %q, want the new one", w.Header().Get("Retry-After"))
	}
	if n := r.stage.Stats(); n.Pages != before.Pages+1 || n.Answers != before.Answers+1 {
		t.Errorf("counters %+v after %+v: they must go on", n, before)
	}
	if n := r.live(); n != 1 {
		t.Errorf("%d in line, want the same one", n)
	}
}

func TestApplyRefuses(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	old := r.stage.live.Load()
	bad, other := old.cfg, old.cfg
	bad.StatusCode = 404
	other.Line = newLine(oneSlot())
	for want, c := range map[string]Config{"status code 404": bad, "cannot be exchanged": other} {
		if err := r.stage.Apply(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if r.stage.live.Load() != old {
		t.Error("something was changed even so")
	}
}

// TestApplyUnderWay changes the configuration while a request stands at the
// door: it is admitted, and its slot goes back to where it came from.
func TestApplyUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(line.Decision{})
		l := &script{answers: []line.Decision{doorDecision(door)}}
		r := newRig(t, l, nil)
		done := make(chan int, 1)
		go func() { done <- r.do("GET", "/", html).Code }()
		synctest.Wait()
		if err := r.stage.Apply(r.stage.live.Load().cfg); err != nil {
			t.Fatal(err)
		}
		door.grant(line.Decision{Verdict: line.Admitted, Slot: 7})
		if code := <-done; code != http.StatusOK {
			t.Errorf("status %d", code)
		}
		if len(l.released) != 1 || l.released[0] != 7 {
			t.Errorf("released %v", l.released)
		}
	})
}
