package redisline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// work is what Redis did: how often it ran each command, those of scripts too.
type work map[string]int

func (w work) total() (n int) {
	for _, k := range w {
		n += k
	}
	return n
}

// meter asks a server what it did.
type meter struct {
	tb     testing.TB
	client rueidis.Client
}

func meterOf(tb testing.TB, s *redistest.Server) meter { return meter{tb, s.Client(tb)} }

func (m meter) do(words ...string) string {
	m.tb.Helper()
	text, err := m.client.Do(m.tb.Context(), m.client.B().Arbitrary(words...).Build()).ToString()
	if err != nil {
		m.tb.Fatalf("%v: %v", words, err)
	}
	return text
}

func (m meter) reset() { m.tb.Helper(); m.do("CONFIG", "RESETSTAT") }

// work is what was done since reset, without what a meter itself does.
func (m meter) work() work {
	m.tb.Helper()
	w := work{}
	for text := range strings.Lines(m.do("INFO", "commandstats")) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(text, "cmdstat_"), ":calls=")
		count, _, _ := strings.Cut(rest, ",")
		if n, err := strconv.Atoi(count); ok && err == nil && !strings.HasPrefix(name, "config") && name != "info" {
			w[name] = n
		}
	}
	return w
}

// scene is a line of some length, with an instance whose time is stepped.
type scene struct {
	l       *Line
	now     time.Time
	tickets []line.Ticket
	slots   []line.Slot
}

// lengthy makes a line of n, of which those in front poll.
func lengthy(tb testing.TB, s *redistest.Server, n int) *scene {
	tb.Helper()
	c := &scene{now: time.Now()}
	c.l = New(Options{Conn: connect(tb, s), Room: fmt.Sprint("r", n), Instance: "a", Settings: settings(50), Given: true})
	if err := c.l.Join(tb.Context(), c.now); err != nil {
		tb.Fatal(err)
	}
	for range 50 {
		c.slots = append(c.slots, c.enter(tb, line.Entry{Client: client(1)}).Slot)
	}
	c.tickets = fill(tb, c.l, n)
	return c
}

func (c *scene) enter(tb testing.TB, e line.Entry) line.Decision {
	tb.Helper()
	d, err := c.l.Enter(tb.Context(), c.now, e)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// operations are one call of every script, or few, on a line of some length.
var operations = map[string]func(testing.TB, *scene){
	"a newcomer": func(tb testing.TB, c *scene) { c.enter(tb, line.Entry{Client: client(7)}) },
	"a holder":   func(tb testing.TB, c *scene) { c.enter(tb, line.Entry{Ticket: c.tickets[len(c.tickets)/2]}) },
	"a poll, in the middle": func(tb testing.TB, c *scene) {
		if st, err := c.l.Poll(tb.Context(), c.now, c.tickets[len(c.tickets)/2]); err != nil || !st.Known {
			tb.Fatal(st, err)
		}
	},
	"a poll, at the end": func(tb testing.TB, c *scene) {
		if st, err := c.l.Poll(tb.Context(), c.now, c.tickets[len(c.tickets)-1]); err != nil || !st.Known {
			tb.Fatal(st, err)
		}
	},
	"to the door, and away": func(tb testing.TB, c *scene) {
		d := c.enter(tb, line.Entry{Ticket: c.tickets[0], MayHold: true})
		if d.Verdict != line.AtDoor {
			tb.Fatal(d)
		}
		d.Door.Leave(c.now, false)
	},
	"a slot goes on": func(tb testing.TB, c *scene) {
		d := c.enter(tb, line.Entry{Ticket: c.tickets[0], MayHold: true})
		c.l.Release(c.now, c.slots[0])
		if v, ok := outcome(d); !ok || v != line.Admitted {
			tb.Fatal(v, ok)
		}
		c.slots[0] = d.Door.Outcome().Slot
		c.tickets = c.tickets[1:]
	},
	"to the front": func(tb testing.TB, c *scene) {
		c.must(tb, c.l.Promote(tb.Context(), c.now, c.tickets[len(c.tickets)-2], 0))
	},
	"to the middle": func(tb testing.TB, c *scene) {
		c.must(tb, c.l.Promote(tb.Context(), c.now, c.tickets[len(c.tickets)-3], len(c.tickets)/2))
	},
	"look": func(tb testing.TB, c *scene) {
		_, err := c.l.Look(tb.Context(), c.now, c.tickets[len(c.tickets)/3])
		c.must(tb, err)
	},
	"a page of the line": func(tb testing.TB, c *scene) {
		_, err := c.l.List(tb.Context(), c.now, len(c.tickets)/2, 100)
		c.must(tb, err)
	},
	"out of the line": func(tb testing.TB, c *scene) {
		k := len(c.tickets) / 4
		c.must(tb, c.l.Quit(tb.Context(), c.now, c.tickets[k]))
		c.tickets = append(c.tickets[:k], c.tickets[k+1:]...)
	},
	"a heartbeat": func(tb testing.TB, c *scene) {
		_, err := c.l.Advance(tb.Context(), c.now)
		c.must(tb, err)
	},
	"synchronize": func(tb testing.TB, c *scene) { c.must(tb, c.l.Join(tb.Context(), c.now)) },
}

func (c *scene) must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// TestWorkIsBounded: what a script asks of Redis does not grow with the line,
// and no script goes through all of a key.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	m := meterOf(t, s)
	small, large := lengthy(t, s, 200), lengthy(t, s, 6000)
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		m.reset()
		operations[name](t, small)
		few := m.work()
		m.reset()
		operations[name](t, large)
		many := m.work()
		if many.total() > few.total()+8 { // a ticket more of the first that are late
			t.Errorf("%s: %d commands with 200 in line, %d with 6000:\n%v\n%v", name, few.total(), many.total(), few, many)
		}
		for _, command := range []string{"keys", "scan", "hscan", "zscan", "smembers", "hkeys", "hvals", "sort"} {
			if many[command] > 0 {
				t.Errorf("%s: uses %s", name, command)
			}
		}
	}
}

// TestBacklogIsWorkedOffInBatches: when everybody is late at once, a call does
// no more than its batch of them.
func TestBacklogIsWorkedOffInBatches(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	m := meterOf(t, s)
	c := lengthy(t, s, 3000)
	for range 15 { // until shortly before the claims of all are over, which they are at once
		c.now = c.now.Add(1900 * time.Millisecond)
		operations["a heartbeat"](t, c)
	}
	c.now = c.now.Add(2 * time.Second)
	for name, most := range map[string]int{"a poll, at the end": 32, "a heartbeat": 256} {
		m.reset()
		operations[name](t, c)
		late := m.work()
		if n := late["zrem"]; n < most || n > most+2 {
			t.Errorf("%s: %d tickets handled, want about %d: %v", name, n, most, late)
		}
		if n := late.total(); n > 100+8*most {
			t.Errorf("%s: %d commands for %d late tickets: %v", name, n, most, late)
		}
	}
}

// TestCrowdedDoorIsLost: when an instance is lost that has many at its door, no
// call takes away more than a batch of them, and in the end all have their
// places and no slot is missing.
func TestCrowdedDoorIsLost(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	m := meterOf(t, s)
	c := lengthy(t, s, 700)
	dead := New(Options{Conn: connect(t, s), Room: "r700", Instance: "b", Settings: settings(50), Given: true})
	c.must(t, dead.Join(t.Context(), c.now))
	crowd(t, c, dead, 700)
	c.l.Release(c.now, c.slots[0]) // to the first, who hears nothing of it
	for range 14 {
		c.now = c.now.Add(time.Second)
		m.reset()
		operations["a heartbeat"](t, c)
		if w := m.work(); w["hset"] > 3*batch+100 {
			t.Errorf("a heartbeat after the loss: %v", w)
		}
	}
	if st, err := c.l.Poll(t.Context(), c.now, c.tickets[0]); err != nil || !st.Known || st.Place.Position != 1 {
		t.Errorf("the first is %+v, %v", st, err)
	}
	if st := c.l.Stats(c.now); st.AtDoor != 0 || st.Live != 700 {
		t.Errorf("%d are at the door, %d of 700 in line", st.AtDoor, st.Live)
	}
	if f := c.l.Fleet(); f.Lost != 1 || len(f.Instances) != 1 || f.Lent != 49 {
		t.Errorf("the fleet is %+v", f)
	}
}

const batch = 256 // as BATCH in the script

// crowd puts the first in line at the door of an instance, as if they had been
// there before.
func crowd(tb testing.TB, c *scene, l *Line, n int) {
	tb.Helper()
	for k := range n {
		e := line.Entry{Ticket: c.tickets[k], MayHold: true}
		_, err := l.call(tb.Context(), c.now, request{op: "enter", args: entryArgs(&e, strconv.Itoa(k), true)})
		c.must(tb, err)
	}
}

// BenchmarkMillion tells how long Redis takes for each script with a million in
// line, by its own account: the time that everybody else waits. After what is
// done all day comes the worst that there can be at once.
func BenchmarkMillion(b *testing.B) {
	s := redistest.Start(b)
	m := meterOf(b, s)
	began := time.Now()
	c := lengthy(b, s, 1_000_000)
	b.Logf("a million tickets restored in %v; memory %s", time.Since(began).Round(time.Second), after(m.do("INFO", "memory"), "used_memory_human:"))
	measure := func(name string, times int, do func()) {
		m.reset()
		for range times {
			do()
			c.now = c.now.Add(time.Millisecond)
		}
		stats, percentiles := m.do("INFO", "commandstats"), m.do("INFO", "latencystats")
		b.Logf("%-32s µs: %s %s", name, after(after(stats, "cmdstat_fcall:"), "usec_per_call="), after(percentiles, "latency_percentiles_usec_fcall:"))
	}
	for _, name := range slices.Sorted(maps.Keys(operations)) {
		measure(name, 200, func() { operations[name](b, c) })
	}
	beats := func(d time.Duration) {
		for end := c.now.Add(d); c.now.Before(end); c.now = c.now.Add(1900 * time.Millisecond) {
			operations["a heartbeat"](b, c)
		}
	}

	dead := New(Options{Conn: connect(b, s), Room: "r1000000", Instance: "b", Settings: settings(50), Given: true})
	c.must(b, dead.Join(b.Context(), c.now))
	set := settings(50)
	set.DoorMax = 4096
	c.must(b, c.l.Configure(b.Context(), c.now, set))
	crowd(b, c, dead, set.DoorMax)
	b.Logf("%d at the door of an instance that is lost", c.l.Stats(c.now).AtDoor)
	measure("the loss, within 12 s", 1, func() { beats(12 * time.Second) })
	beats(17 * time.Second)
	c.now = c.now.Add(2 * time.Second) // the claims of the million end
	measure("a poll, 32 late", 200, func() { operations["a poll, at the end"](b, c) })
	measure("a heartbeat, 256 late", 200, func() { operations["a heartbeat"](b, c) })
}

// after is what follows a label in a text, to the end of the line.
func after(text, label string) string {
	_, rest, _ := strings.Cut(text, label)
	rest, _, _ = strings.Cut(rest, "\r")
	return rest
}
