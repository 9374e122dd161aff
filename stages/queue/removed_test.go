package queue

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// TestRemovedVisitorIsTold: whose place an operator took away is called by the
// next poll, told so by the next page request, and a newcomer after that.
func TestRemovedVisitorIsTold(t *testing.T) {
	var mu sync.Mutex // guards the fields below
	removed, placed := map[uint64]bool{}, []string{}
	r := newRig(t, newLine(oneSlot()), func(c *Config) {
		c.Removed = func(k line.Ticket) bool {
			mu.Lock()
			defer mu.Unlock()
			return removed[k.Number]
		}
		c.Placed = func(v *pipeline.Visit, k line.Ticket) {
			mu.Lock()
			defer mu.Unlock()
			placed = append(placed, v.Path.Clean)
			if strings.HasPrefix(v.Path.Clean, "/take") {
				removed[k.Number] = true
			}
		}
	})
	r.fill()
	mine, other := ticketOf(r.do("GET", "/take", html)), ticketOf(r.do("GET", "/keep", html))
	list, err := r.line.List(t.Context(), time.Now(), 0, 1)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := r.line.Remove(t.Context(), time.Now(), list[0].Place.Ticket); err != nil {
		t.Fatal(err)
	}
	if w := r.do("GET", "/queue/status", cookie(mine)); w.Code != 200 || w.Body.String() != `{"ready":true}` {
		t.Errorf("poll: %d %s", w.Code, w.Body)
	}
	for _, as := range []struct {
		option option
		want   string
	}{{html, "<h1>You were taken out of the line</h1>"}, {accept("application/json"), `{"error":"removed from the queue","removed":true}`}} {
		w := r.do("GET", "/", as.option, cookie(mine))
		set := strings.Join(w.Header()["Set-Cookie"], "\n")
		if w.Code != 403 || !strings.Contains(w.Body.String(), as.want) || !strings.Contains(set, "room_ticket=; ") || !strings.Contains(set, "Max-Age=0") {
			t.Errorf("page: %d %s, cookies %q", w.Code, w.Body, set)
		}
	}
	if w := r.do("GET", "/", html, cookie(other)); w.Code != 200 || ticketOf(w) != other {
		t.Errorf("the next in line: %d", w.Code)
	}
	if got := strings.Join(placed, " "); got != "/take /keep /" {
		t.Errorf("told of places for %q", got)
	}
}
