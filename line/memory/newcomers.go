package memory

import "time"

const (
	comersPrior = 10
	comersLimit = 1000
	lateSpread  = 3 // mean deviations
	paceWeight  = 0.05
	firstGap    = 3 * time.Second       // assumed time to the first poll
	obedience   = 50 * time.Millisecond // a difference that says nothing
)

// newcomers learns how many of those who were given a place ask after it, and
// when: visitors who leave at once are many, and must not count as ahead.
type newcomers struct {
	came, due float64 // first polls that came, of those that were due
	// gap is the smoothed time to the first poll. The others are how far it
	// is, on average, from gap and from what the visitor was told.
	gap, offGap, offAsked time.Duration
	cursor                uint64 // tickets from this number on may be overdue
}

func startNewcomers(first uint64) newcomers {
	return newcomers{came: comersPrior, due: comersPrior, gap: firstGap, cursor: first}
}

// share is the expected share of first polls that come.
func (c *newcomers) share() float64 { return c.came / c.due }

// poll counts a first poll that came a time after the ticket was issued.
func (c *newcomers) poll(t *ticket, since time.Duration) {
	c.count(1)
	smooth(&c.offGap, max(since-c.gap, c.gap-since))
	asked := time.Duration(t.asked) * time.Millisecond
	smooth(&c.offAsked, max(since-asked, asked-since))
	smooth(&c.gap, since)
}

func smooth(d *time.Duration, to time.Duration) {
	*d += time.Duration(paceWeight * float64(to-*d))
}

// obedient reports whether the crowd asks when it is told to, rather than all
// at one pace.
func (c *newcomers) obedient() bool { return c.offAsked <= c.offGap+obedience }

// late corrects the count for a first poll that came after all.
func (c *newcomers) late(t *ticket, since time.Duration) {
	c.due = max(c.due-1, c.came)
	c.poll(t, since)
}

// count counts a first poll that was due, 1 if it came.
func (c *newcomers) count(came float64) {
	if c.due >= comersLimit {
		c.due, c.came = c.due/2, c.came/2
	}
	c.due++
	c.came += came
}

// presence is how long a newcomer counts as present, whether it goes by what
// it was told or by the pace of the crowd.
func (c *newcomers) presence(t *ticket) time.Duration {
	return max(presence(t), c.gap*3/2+time.Second)
}

// overdue makes tickets absent whose first poll has not come though, by now
// known pace of the crowd, it should have. They are looked at in the order in
// which they were issued, at most lapseBatch at a time.
func (l *Line) overdue(n instant) {
	c := &l.first
	for range lapseBatch {
		if c.cursor >= l.number {
			return
		}
		if i, ok := l.numbers[c.cursor]; ok {
			t := l.slab.at(i)
			if !t.has(flagPolled) && n.since(t.seen) < c.lateAfter(t) {
				return
			}
			if l.order.find(i).class() == fresh {
				l.lapse(n, i)
			}
		}
		c.cursor++
	}
}

// lateAfter is how long after it was issued a ticket's first poll is late:
// later than nearly all of a crowd's, even if some of it asks seldom.
func (c *newcomers) lateAfter(t *ticket) time.Duration {
	d := c.gap + lateSpread*c.offGap
	if c.obedient() {
		d = max(d, time.Duration(t.asked)*time.Millisecond+lateSpread*c.offAsked)
	}
	return d + lateBy
}
