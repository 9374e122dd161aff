package redisline

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// throng is visitors who wait in front of several instances while the test steps
// the time, so that what it shows does not depend on the machine. A balancer
// sends each request to any of the instances. It is for one goroutine.
type throng struct {
	t         *testing.T
	rnd       *rand.Rand
	began     time.Time
	now       time.Time
	todo      schedule
	redis     rueidis.Client
	instances []*member
	visitors  []*visitor // in the order in which they came
	served    int
	inside    int // pages at the origin
	peak      int
	page      time.Duration // what one takes there
}

// member is an instance.
type member struct {
	*Line
	deaf bool           // cut off from Redis
	way  rueidis.Client // while it is, what leads there
}

type visitor struct {
	client int
	ticket line.Ticket
	at     *member        // at whose door they stand
	door   *line.Decision // nil for none
	rank   int            // among those who were let in, from 1
}

// gather has a number of visitors come within a time.
func gather(t *testing.T, instances, visitors, slots int, within time.Duration) *throng {
	t.Helper()
	s := redistest.Start(t)
	c := &throng{
		t: t, rnd: rand.New(rand.NewPCG(1, 2)), now: time.Now(), redis: s.Client(t), page: 400 * time.Millisecond,
	}
	c.began = c.now
	for k := range instances {
		c.instances = append(c.instances, &member{Line: given(t, s, fmt.Sprint("i", k), slots, c.now)})
	}
	for _, m := range c.instances {
		c.advance(m)
	}
	for k := range visitors {
		v := &visitor{client: k}
		c.visitors = append(c.visitors, v)
		c.after(within*time.Duration(k)/time.Duration(visitors), func() { c.load(v) })
	}
	return c
}

// cut cuts an instance off from Redis, at a time and for another.
func (c *throng) cut(m *member, at, off time.Duration) {
	conn := m.opt.Conn
	c.after(at, func() {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		m.deaf, m.way, conn.client, conn.closed = true, conn.client, nil, true
	})
	c.after(at+off, func() {
		conn.mu.Lock()
		defer conn.mu.Unlock()
		m.deaf, conn.client, conn.closed = false, m.way, false
	})
}

// run goes on until everybody is served, for a time at the longest.
func (c *throng) run(longest time.Duration) {
	c.t.Helper()
	for c.served < len(c.visitors) {
		e := heap.Pop(&c.todo).(event)
		c.now = e.at
		if c.now.Sub(c.began) > longest {
			c.t.Fatalf("invariant 4: %d of %d are served after %v", c.served, len(c.visitors), longest)
		}
		e.do()
		for c.deliver() {
		}
		c.conclude()
	}
}

// reach does something at an instance. While it is cut off, a call of Redis takes
// as long as it has.
func (c *throng) reach(m *member, do func()) {
	if m.deaf && !m.isDown() {
		c.after(callTimeout/2, do)
		return
	}
	do()
}

func (c *throng) advance(m *member) {
	c.reach(m, func() {
		next, err := m.Advance(c.t.Context(), c.now)
		if err != nil {
			c.t.Fatal(err)
		}
		c.at(next, func() {
			m.mu.Lock()
			stale := !m.promised.Equal(next)
			m.mu.Unlock()
			if !stale {
				c.advance(m)
			}
		})
	})
}

// deliver tells instances of their mail, as messages on their channels do, and
// has them called that want to be; false when there was nothing to do.
func (c *throng) deliver() (did bool) {
	for _, m := range c.instances {
		if !m.deaf && c.mail(m) {
			m.hear("mail")
		}
		select {
		case <-m.Wake():
			c.advance(m)
			did = true
		default:
		}
	}
	return did
}

// mail reports whether there is mail that an instance has not read.
func (c *throng) mail(m *member) bool {
	last := c.redis.B().Lindex().Key(m.keys[0] + ":mail:" + m.me).Index(-1).Build()
	text, err := c.redis.Do(c.t.Context(), last).ToString()
	number, _, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseUint(number, 10, 64)
	m.mu.Lock()
	defer m.mu.Unlock()
	return err == nil && n > m.mailSeen
}

// conclude goes on with those of whom something became at the door.
func (c *throng) conclude() {
	for _, v := range c.visitors {
		if v.door == nil {
			continue
		}
		select {
		case <-v.door.Door.Done():
			d := v.door.Door.Outcome()
			v.door = nil
			c.judged(v, v.at, d)
		default:
		}
	}
}

// load asks for the page.
func (c *throng) load(v *visitor) {
	m := c.balance()
	c.reach(m, func() {
		d, err := m.Enter(c.t.Context(), c.now, line.Entry{Ticket: v.ticket, Client: client(v.client), MayHold: true})
		if err != nil {
			c.t.Fatal(err)
		}
		c.judged(v, m, d)
	})
}

func (c *throng) balance() *member { return c.instances[c.rnd.IntN(len(c.instances))] }

func (c *throng) judged(v *visitor, m *member, d line.Decision) {
	switch d.Verdict {
	case line.Admitted:
		c.enter(v, m, d.Slot)
	case line.AtDoor:
		c.stand(v, m, &d)
	case line.Waiting:
		v.ticket = d.Place.Ticket
		c.wait(v, time.Second)
	case line.Spent:
		c.t.Fatalf("invariant 4: the ticket of visitor %d is spent", v.client)
	default:
		c.t.Fatalf("visitor %d gets verdict %v", v.client, d.Verdict)
	}
}

func (c *throng) enter(v *visitor, m *member, slot line.Slot) {
	c.served++
	v.rank = c.served
	c.inside++
	c.peak = max(c.peak, c.inside)
	c.after(c.page, func() {
		c.inside--
		c.reach(m, func() { m.Release(c.now, slot) })
	})
}

func (c *throng) stand(v *visitor, m *member, d *line.Decision) {
	v.at, v.door = m, d
	c.at(d.Until, func() {
		c.reach(m, func() {
			if v.door == d {
				v.door = nil
				c.judged(v, m, d.Door.Leave(c.now, false))
			}
		})
	})
}

// wait has a visitor ask after their place later.
func (c *throng) wait(v *visitor, d time.Duration) {
	d += time.Duration(c.rnd.Float64() * 0.1 * float64(d))
	c.after(d, func() {
		m := c.balance()
		c.reach(m, func() {
			st, err := m.Poll(c.t.Context(), c.now, v.ticket)
			switch {
			case err != nil:
				c.t.Fatal(err)
			case st.Known && !st.Ready:
				c.wait(v, st.Place.PollAfter)
			default:
				c.load(v)
			}
		})
	})
}

// inverted is the share of the pairs of which the later one was let in first.
func (c *throng) inverted() float64 {
	n, pairs := len(c.visitors), 0
	for k, a := range c.visitors {
		for _, b := range c.visitors[k+1:] {
			if b.rank < a.rank {
				pairs++
			}
		}
	}
	return float64(pairs) / (float64(n) * float64(n-1) / 2)
}

// schedule is what happens, by its time; at the same one, in the order in which
// it was put down.
type schedule struct {
	all   []event
	count int
}

type event struct {
	at    time.Time
	order int
	do    func()
}

func (c *throng) at(when time.Time, do func()) {
	c.todo.count++
	heap.Push(&c.todo, event{when, c.todo.count, do})
}

func (c *throng) after(d time.Duration, do func()) { c.at(c.now.Add(d), do) }

func (s *schedule) Len() int { return len(s.all) }
func (s *schedule) Less(i, j int) bool {
	a, b := s.all[i], s.all[j]
	return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) < 0
}
func (s *schedule) Swap(i, j int) { s.all[i], s.all[j] = s.all[j], s.all[i] }
func (s *schedule) Push(x any)    { s.all = append(s.all, x.(event)) }
func (s *schedule) Pop() any {
	last := s.all[len(s.all)-1]
	s.all = slices.Delete(s.all, len(s.all)-1, len(s.all))
	return last
}
