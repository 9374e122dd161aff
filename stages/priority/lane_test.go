package priority

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

const laneWait = 4 * time.Second // waiters are aged after half of it

// crew is a lane with waiters that tests know by name.
type crew struct {
	t     *testing.T
	l     *lane
	now   time.Time
	names []string
	all   []*waiter
	seen  map[*waiter]bool
	next  uint64
}

func newCrew(t *testing.T, capacity int) *crew {
	c := &crew{t: t, l: newLane(), now: time.Unix(1_800_000_000, 0), seen: map[*waiter]bool{}}
	c.l.adjust(c.now, capacity, laneWait/2)
	return c
}

// join adds a waiter with a pass of its own; it must fit.
func (c *crew) join(name string, rank pipeline.Rank) *waiter {
	c.t.Helper()
	c.next++
	w := c.l.join(c.now, 1000+c.next, rank)
	if w == nil {
		c.t.Fatalf("%s found no room", name)
	}
	c.names, c.all = append(c.names, name), append(c.all, w)
	return w
}

// granted returns the names of those granted a slot since the last call.
func (c *crew) granted() string {
	var names []string
	for i, w := range c.all {
		if w.has && !c.seen[w] {
			c.seen[w] = true
			names = append(names, c.names[i])
		}
	}
	return strings.Join(names, " ")
}

// hand gives slots back one by one and returns who got them, in order.
func (c *crew) hand(n int) string {
	var order []string
	for range n {
		c.l.release(c.now, holderPass)
		order = append(order, c.granted())
	}
	return strings.Join(order, " ")
}

// holderPass holds the lane's slots at the beginning of a test.
const holderPass = 1

func (c *crew) fill() {
	c.t.Helper()
	for c.l.held < c.l.cap {
		c.l.held++
		c.l.passes[holderPass] += 100 // as many as will ever be given back in its name
	}
}

func TestLaneServesByRankThenArrival(t *testing.T) {
	c := newCrew(t, 1)
	c.fill()
	for i, w := range []struct {
		name string
		rank pipeline.Rank
	}{
		{"guest-form", pipeline.Guest}, {"customer-1", pipeline.Customer}, {"staff-1", pipeline.Staff},
		{"checkout", pipeline.Checkout}, {"customer-2", pipeline.Customer}, {"staff-2", pipeline.Staff},
	} {
		c.now = c.now.Add(time.Duration(i) * time.Millisecond)
		c.join(w.name, w.rank)
	}
	want := "staff-1 staff-2 checkout customer-1 customer-2 guest-form"
	if got := c.hand(6); got != want {
		t.Errorf("served %s, want %s", got, want)
	}
}

func TestLaneFavoursTheLongestWaitingNowAndThen(t *testing.T) {
	c := newCrew(t, 1)
	c.fill()
	c.join("old-1", pipeline.Guest)
	c.join("old-2", pipeline.Guest)
	c.now = c.now.Add(laneWait / 2)
	for k := range 8 {
		c.join(fmt.Sprint("staff-", k), pipeline.Staff)
	}
	want := "old-1 staff-0 staff-1 staff-2 old-2 staff-3 staff-4 staff-5 staff-6 staff-7"
	if got := c.hand(10); got != want {
		t.Errorf("served %s, want %s", got, want)
	}
}

// TestLaneNewcomerNeverOvertakes holds invariant 2.
func TestLaneNewcomerNeverOvertakes(t *testing.T) {
	c := newCrew(t, 2)
	c.fill()
	c.join("first", pipeline.Guest)
	if c.l.try(7) {
		t.Error("invariant 2: a newcomer got a slot while all were held")
	}
	c.l.release(c.now, holderPass)
	if c.l.try(7) {
		t.Error("invariant 2: a newcomer got the slot that was handed on")
	}
	if got := c.granted(); got != "first" {
		t.Errorf("granted: %q", got)
	}
}

func TestLaneLeaving(t *testing.T) {
	c := newCrew(t, 1)
	c.fill()
	a, b := c.join("a", pipeline.Staff), c.join("b", pipeline.Staff)
	if c.l.leave(a) {
		t.Error("a was granted nothing, and leaves with a slot")
	}
	if got := c.hand(1); got != "b" || !c.l.leave(b) {
		t.Errorf("granted %q; b must leave with its slot", got)
	}
}

func TestLaneFollowsItsCapacity(t *testing.T) {
	c := newCrew(t, 1)
	c.fill()
	for _, name := range []string{"a", "b", "c"} {
		c.join(name, pipeline.Customer)
	}
	c.l.adjust(c.now, 3, 0)
	if got := c.granted(); got != "a b" {
		t.Errorf("with two slots more, granted %q", got)
	}
	c.l.adjust(c.now, 1, 0)
	if got := c.hand(2); strings.TrimSpace(got) != "" {
		t.Errorf("above the smaller capacity, granted %q", got)
	}
	if got := c.hand(1); got != "c" {
		t.Errorf("within the capacity again, granted %q", got)
	}
}

// One pass, however many use it, leaves room for others.
func TestLaneLimitsAPass(t *testing.T) {
	for capacity, most := range map[int]int{1: 2, 2: 2, 4: 2, 10: 5} {
		c := newCrew(t, capacity)
		n := 0
		for range 20 {
			if c.l.try(7) || c.l.join(c.now, 7, pipeline.Staff) != nil {
				n++
			}
		}
		if n != most {
			t.Errorf("of %d slots, a pass may have %d requests in the lane, want %d", capacity, n, most)
		}
		if capacity > most && !c.l.try(8) {
			t.Errorf("of %d slots, none is left for another pass", capacity)
		}
	}
}

func TestLaneBoundsItsWaiters(t *testing.T) {
	c := newCrew(t, 1)
	c.fill()
	for range MaxWaiting {
		c.join("w", pipeline.Guest)
	}
	if c.l.join(c.now, 7, pipeline.Guest) != nil {
		t.Error("a guest too many found room")
	}
	c.join("staff", pipeline.Staff) // forms of guests do not crowd out staff
}

// A long run of a crowd of mixed ranks, more than the lane can serve: the cap
// holds, slots never idle, order within a rank is that of arrival, higher ranks
// fare better, and none starves.
// It holds invariants 1 and 3 for the lane.
func TestLaneSimulation(t *testing.T) {
	const (
		capacity, service = 4, 200 * time.Millisecond // 20 a second
		arrivals          = 30                        // a second, more than can be served
		length            = 5 * time.Minute
	)
	c, rnd := newCrew(t, capacity), rand.New(rand.NewPCG(1, 2))
	type served struct{ got, lost, waited int }
	type holder struct {
		pass uint64
		ends time.Time
	}
	var (
		result  [pipeline.NumRanks]served
		last    [pipeline.NumRanks]time.Time
		waiting []*waiter
		holders []holder
	)
	start := c.now
	step := time.Second / arrivals
	for c.now.Sub(start) < length {
		c.now = c.now.Add(step)
		holders = slices.DeleteFunc(holders, func(h holder) bool {
			over := !c.now.Before(h.ends)
			if over {
				c.l.release(c.now, h.pass)
			}
			return over
		})
		rank := pipeline.Rank(rnd.IntN(int(pipeline.NumRanks)))
		c.next++
		if w := c.l.join(c.now, 1000+c.next, rank); w != nil {
			waiting = append(waiting, w)
		} else {
			result[rank].lost++
		}
		waiting = slices.DeleteFunc(waiting, func(w *waiter) bool {
			late := c.now.Sub(w.since) >= laneWait
			switch {
			case w.has || late && c.l.leave(w):
				if w.since.Before(last[w.rank]) {
					t.Fatalf("%v: one who came at %v was served after one of %v", w.rank, w.since, last[w.rank])
				}
				last[w.rank] = w.since
				result[w.rank].got++
				result[w.rank].waited += int(c.now.Sub(w.since) / time.Millisecond)
				holders = append(holders, holder{w.pass, c.now.Add(service)})
			case late:
				result[w.rank].lost++
			default:
				return false
			}
			return true
		})
		if c.l.held > capacity || len(holders) != c.l.held {
			t.Fatalf("invariant 1: %d held of %d, %d known", c.l.held, capacity, len(holders))
		}
		if c.l.held < capacity && c.l.waiting > 0 {
			t.Fatalf("invariant 3: %d wait, %d of %d held", c.l.waiting, c.l.held, capacity)
		}
	}
	for r, got := range result {
		t.Logf("%-10v served %4d, lost %4d, mean wait %d ms", pipeline.Rank(r), got.got, got.lost, got.waited/max(1, got.got))
		if got.got < 100 {
			t.Errorf("%v starves: %d served, %d lost", pipeline.Rank(r), got.got, got.lost)
		}
	}
	if result[pipeline.Staff].lost > 0 || result[pipeline.Staff].got <= result[pipeline.Guest].got {
		t.Errorf("staff fares no better: %+v", result)
	}
}
