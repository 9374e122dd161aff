package redisline

import (
	"context"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// Instance is one process of the fleet.
type Instance struct {
	Name   string        // as in Options.Instance, with a random part
	Silent time.Duration // since Redis last heard of it
	Lent   int           // slots it may use
	Used   int           // of these, in use as far as it told
	Me     bool          // it is this process
}

// Fleet is what is known of all instances.
type Fleet struct {
	Instances []Instance // alive, as of the last heartbeat
	Down      bool       // Redis is away
	Lent      int        // slots lent out, to all
	Lost      int        // instances whose leases ran out
	Calls     uint64     // scripts this process ran
	Quick     uint64     // people it let in without one
	Alone     uint64     // people it let in while Redis was away
}

// view is what a heartbeat answers.
type view struct {
	at     time.Time
	stats  line.Stats
	lent   int
	lost   int
	digest string
	alive  []Instance
}

const statFields = 19

func readStats(b body) (st line.Stats, lent, lost int) {
	st = line.Stats{
		InFlight: int(b.num(0)), Live: int(b.num(1)), Present: int(b.num(2)), AtDoor: int(b.num(3)), Called: int(b.num(4)),
		MeanHold: time.Duration(b.num(5)), AdmissionRate: float64(b.num(6)) / 1e6, Utilization: float64(b.num(7)) / 1e6,
		QueuedTotal: uint64(b.num(8)), AdmittedTotal: uint64(b.num(9)), EvictedTotal: uint64(b.num(10)),
		RemovedTotal: uint64(b.num(11)), PromotedTotal: uint64(b.num(12)), TimeoutsTotal: uint64(b.num(13)),
		RefusedTotal: uint64(b.num(14)), PassedTotal: uint64(b.num(15)), ReturnedTotal: uint64(b.num(16)),
	}
	return st, int(b.num(17)), int(b.num(18))
}

func readView(b body, now time.Time) view {
	v := view{at: now}
	v.stats, v.lent, v.lost = readStats(b)
	if len(b) <= statFields {
		return v
	}
	v.digest = b[statFields]
	for rest := b[statFields+1:]; len(rest) >= 4; rest = rest[4:] {
		v.alive = append(v.alive, Instance{
			Name: rest[0], Silent: time.Duration(rest.num(1)), Lent: int(rest.num(2)), Used: int(rest.num(3)),
		})
	}
	return v
}

// Stats are the counters and gauges of all instances together, at most a
// heartbeat old; while Redis is away, as they last were.
func (l *Line) Stats(now time.Time) line.Stats {
	if l.opt.Given && !l.isDown() {
		if b, err := l.call(context.Background(), now, request{op: "stats"}); err == nil {
			l.mu.Lock()
			l.latest.stats, _, _ = readStats(b)
			l.mu.Unlock()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.latest.stats
	st.Settings = l.set
	return st
}

// Fleet tells of all instances.
func (l *Line) Fleet() Fleet {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := Fleet{
		Down: l.outage.down, Lent: l.latest.lent, Lost: l.latest.lost,
		Calls: l.ops.Load(), Quick: l.quick.Load(), Alone: l.outage.admitted,
	}
	for _, i := range l.latest.alive {
		i.Me = i.Name == l.me
		f.Instances = append(f.Instances, i)
	}
	return f
}

// Name is that of this process in the fleet.
func (l *Line) Name() string { return l.me }
