package memory

import (
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/linetest"
)

// TestStandstillCostsNobodyTheirPlace: whoever could not ask while the process
// stood still has all of their time left (invariant 4).
func TestStandstillCostsNobodyTheirPlace(t *testing.T) {
	const grace, ttl = 30 * time.Second, 5 * time.Minute
	for name, stood := range map[string]time.Duration{"a minute": time.Minute, "an hour": time.Hour} {
		t.Run(name, func(t *testing.T) {
			c := newClocked(t, line.Settings{
				Policy: line.Policy{Cap: 1}, TTL: ttl, Sweep: time.Second, FirstPollGrace: grace,
			})
			c.enter(1) // takes the slot
			polled, newcomer := c.enter(2), c.enter(3)
			c.run(10 * time.Second)
			c.poll(polled)
			c.run(10 * time.Second)

			c.now = c.now.Add(stood)
			c.run(0)
			c.run(5 * time.Second) // 25 of the newcomer's 30
			for _, k := range []line.Ticket{polled, newcomer} {
				if c.place(k) == 0 {
					t.Errorf("ticket %d has lost its place", k.Number)
				}
			}

			c.run(10 * time.Second) // neither asks: what was left is over
			if c.place(newcomer) != 0 {
				t.Error("a newcomer who never asks stays for longer than the grace")
			}
			if c.place(polled) != 1 {
				t.Errorf("who asked before is at %d, want 1", c.place(polled))
			}
			c.run(ttl)
			if c.place(polled) != 0 {
				t.Error("who is silent for a lifetime stays")
			}
		})
	}
}

// TestQuietIsNoStandstill: with nobody in line there is nothing to be called for,
// and time passes all the same.
func TestQuietIsNoStandstill(t *testing.T) {
	c := newClocked(t, line.Settings{Policy: line.Policy{Cap: 1}, TTL: time.Minute, Sweep: time.Second})
	c.run(0)
	c.now = c.now.Add(time.Hour)
	c.enter(1)
	if k := c.enter(2); !k.Issued.Equal(c.now) {
		t.Errorf("a ticket of %v was issued at %v", c.now, k.Issued)
	}
}

// clocked is a line that is called when it asks to be.
type clocked struct {
	*Line
	t   *testing.T
	now time.Time
}

func newClocked(t *testing.T, set line.Settings) *clocked {
	now := time.Unix(1_000_000, 0)
	return &clocked{Line: New(Options{Settings: set, Start: now}), t: t, now: now}
}

func (c *clocked) enter(last byte) line.Ticket {
	c.t.Helper()
	client := netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, last}), 32)
	d, err := c.Enter(c.t.Context(), c.now, line.Entry{Client: client})
	if err != nil {
		c.t.Fatal(err)
	}
	c.run(0)
	return d.Place.Ticket
}

func (c *clocked) poll(k line.Ticket) {
	c.t.Helper()
	if _, err := c.Poll(c.t.Context(), c.now, k); err != nil {
		c.t.Fatal(err)
	}
}

// place is where a ticket stands, without its owner being seen; 0 when it has none.
func (c *clocked) place(k line.Ticket) int {
	c.t.Helper()
	s, err := c.Look(c.t.Context(), c.now, k)
	if err != nil {
		c.t.Fatal(err)
	}
	return s.Place.Position
}

// run lets time pass.
func (c *clocked) run(d time.Duration) {
	c.t.Helper()
	end := c.now.Add(d)
	linetest.Pass(c.t, c.Line, c.now, end)
	c.now = end
}
