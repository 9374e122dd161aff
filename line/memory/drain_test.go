package memory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// about is a service time of d, up to a fifth more or less.
func about(d time.Duration) func(*rand.Rand, time.Duration) time.Duration {
	return func(rnd *rand.Rand, _ time.Duration) time.Duration {
		return time.Duration(float64(d) * (0.8 + 0.4*rnd.Float64()))
	}
}

// changing changes a service time at a time since the start.
func changing(first time.Duration, at time.Duration, then time.Duration) func(*rand.Rand, time.Duration) time.Duration {
	a, b := about(first), about(then)
	return func(rnd *rand.Rand, since time.Duration) time.Duration {
		if since < at {
			return a(rnd, since)
		}
		return b(rnd, since)
	}
}

// stalling holds everybody who is let in between two times until the second.
func stalling(d, from, to time.Duration) func(*rand.Rand, time.Duration) time.Duration {
	normal := about(d)
	return func(rnd *rand.Rand, since time.Duration) time.Duration {
		if since >= from && since < to {
			return to - since + normal(rnd, since)
		}
		return normal(rnd, since)
	}
}

// mixed is a crowd in which every visitor has one of the first three paces.
const mixed = -1

// paces are how visitors poll: at their own pace, or when told (0).
var paces = []time.Duration{time.Second, 3 * time.Second, 0, mixed}

func paceName(d time.Duration) string {
	switch d {
	case 0:
		return "as told"
	case mixed:
		return "mixed"
	}
	return d.String()
}

func (c crowd) with(change func(*crowd)) crowd {
	change(&c)
	return c
}

func atOnce(n int, d time.Duration, slots int, service time.Duration) crowd {
	return crowd{visitors: n, arrive: d, service: about(service), slots: slots}
}

// TestDrain lets crowds drain and holds the line to a full origin and a fair
// order. The times are virtual, so the figures are the same on every machine.
func TestDrain(t *testing.T) {
	crowdB := atOnce(3000, 5*time.Second, 50, 250*time.Millisecond)
	for _, tt := range []struct {
		name     string
		crowd    crowd
		util     float64
		inverted float64
	}{
		{"A", atOnce(2000, time.Second, 50, 50*time.Millisecond), 0.94, 0.005},
		{"B", crowdB, 0.97, 0.005},
		{"C", crowdB.with(func(c *crowd) { c.ghosts, c.quitters = 0.15, 0.15 }), 0.95, 0.005},
		{"ghosts", crowdB.with(func(c *crowd) { c.ghosts = 0.3 }), 0.95, 0.005},
		{"quitters", crowdB.with(func(c *crowd) { c.quitters = 0.3 }), 0.95, 0.005},
		{"returns", crowdB.with(func(c *crowd) { c.quitters, c.back = 0.3, 0.7 }), 0.5, 0.1},
		{"reloads", crowdB.with(func(c *crowd) { c.reloads = 0.3 }), 0.97, 0.005},
		{"hang-ups", crowdB.with(func(c *crowd) { c.hangUps = 0.2 }), 0.95, 0.02},
		{"faster", crowdB.with(func(c *crowd) {
			c.service = changing(400*time.Millisecond, 8*time.Second, 100*time.Millisecond)
		}), 0.9, 0.05}, // those behind asked first, and no slot waited for the others
		{"slower", crowdB.with(func(c *crowd) {
			c.service = changing(100*time.Millisecond, 4*time.Second, 400*time.Millisecond)
		}), 0.8, 0.005}, // all at the door outlast it, and are back only after a poll
		{"stall", crowdB.with(func(c *crowd) {
			c.service = stalling(250*time.Millisecond, 6*time.Second, 26*time.Second)
		}), 0.9, 0.02},
		{"one slot", atOnce(60, 5*time.Second, 1, 2*time.Second), 0.95, 0.01},
		{"long line", atOnce(5000, 6*time.Second, 50, 250*time.Millisecond), 0.98, 0.005},
		{"no line", atOnce(2500, 10*time.Second, 50, 150*time.Millisecond), 0.7, 0.005},
	} {
		for _, pace := range paces {
			t.Run(tt.name+"/poll="+paceName(pace), func(t *testing.T) {
				t.Parallel()
				c := tt.crowd
				c.poll, c.limit = pace, 10*time.Minute
				c.settings = func(s *line.Settings) { s.DoorMax = 1024 }
				w := simulate(t, c)
				util, inverted := w.utilisation(), invertedShare(w.order)
				want := tt.util
				if pace == mixed { // when few are left, it is for the slow ones among them
					want -= 0.08
				}
				if util < want {
					t.Errorf("utilisation %.3f, want at least %.3f", util, want)
				}
				if inverted > tt.inverted {
					t.Errorf("inverted pairs %.4f, want at most %.4f", inverted, tt.inverted)
				}
				w.checkServed()
				t.Logf("utilisation %.3f, inverted %.4f, served %d, door peak %d, polls %d, passed %d, in %v",
					util, inverted, len(w.order), w.doorPeak, w.polls, w.l.tally.passed, w.lastEnd.Sub(start))
			})
		}
	}
}

// TestChanges lets crowds drain while an operator turns every knob: nobody may
// be lost, and the checks of every step must hold.
func TestChanges(t *testing.T) {
	set := func(at time.Duration, change func(*line.Settings)) func(*world) {
		return func(w *world) {
			w.after(at, func() {
				s := w.l.set
				change(&s)
				_ = w.l.Configure(t.Context(), w.now, s) // never fails
			})
		}
	}
	slots := func(at time.Duration, n int) func(*world) {
		return set(at, func(s *line.Settings) { s.Policy.Cap = n })
	}
	mode := func(at time.Duration, m line.Mode) func(*world) {
		return set(at, func(s *line.Settings) { s.Mode = m })
	}
	for _, tt := range []struct {
		name   string
		script []func(*world)
	}{
		{"shrink", []func(*world){slots(4*time.Second, 10)}},
		{"grow", []func(*world){slots(0, 5), slots(6*time.Second, 100)}},
		{"to and fro", []func(*world){slots(3*time.Second, 1), slots(5*time.Second, 90), slots(7*time.Second, 20), slots(8*time.Second, 50)}},
		{"pause", []func(*world){mode(3*time.Second, line.Paused), mode(15*time.Second, line.Open)}},
		{"rate", []func(*world){set(2*time.Second, func(s *line.Settings) {
			s.Policy = line.Policy{Cap: 50, Inflow: 100, Interval: time.Second, Burst: 5}
		})}},
		{"rate alone", []func(*world){set(0, func(s *line.Settings) {
			s.Policy = line.Policy{Inflow: 2000, Interval: 10 * time.Second, Burst: 20}
		})}},
		{"no door", []func(*world){set(0, func(s *line.Settings) { s.DoorMax = 0 })}},
		{"short door", []func(*world){set(0, func(s *line.Settings) { s.DoorMax = 40 })}},
		{"impatient door", []func(*world){set(0, func(s *line.Settings) { s.DoorWait = 100 * time.Millisecond })}},
		{"door gone", []func(*world){set(3*time.Second, func(s *line.Settings) { s.DoorMax = 0 })}},
		{"full", []func(*world){set(0, func(s *line.Settings) { s.MaxWaiting = 200 })}},
		{"no limit", []func(*world){set(8*time.Second, func(s *line.Settings) { s.Policy = line.Policy{} })}},
	} {
		for _, pace := range paces[1:3] {
			t.Run(tt.name+"/poll="+paceName(pace), func(t *testing.T) {
				t.Parallel()
				w := simulate(t, crowd{
					visitors: 1500, arrive: 3 * time.Second, slots: 50, service: about(200 * time.Millisecond),
					poll: pace, limit: 20 * time.Minute,
					ghosts: 0.05, quitters: 0.1, back: 0.5, hangUps: 0.05, reloads: 0.1,
					script: func(w *world) {
						for _, f := range tt.script {
							f(w)
						}
					},
				})
				w.checkServed()
				t.Logf("inverted %.4f, served %d, door peak %d, passed %d, in %v",
					invertedShare(w.order), len(w.order), w.doorPeak, w.l.tally.passed, w.lastEnd.Sub(start))
			})
		}
	}
}

// checkServed has everybody served who did not leave.
func (w *world) checkServed() {
	w.t.Helper()
	for _, v := range w.visitors {
		if !v.served && !v.leaves {
			w.t.Errorf("patient visitor %d was not served", v.id)
		}
	}
}
