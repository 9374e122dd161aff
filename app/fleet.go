package app

import (
	"context"
	"errors"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/fleet"
	"github.com/andreimerlescu/concert/line"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/prometheus/client_golang/prometheus"
)

// redisTime bounds how long a start and an end wait for Redis.
const redisTime = 2 * time.Second

// shared is what this process has of a line that it shares with others; its
// zero value stands for a line of its own.
type shared struct {
	conn    *redisline.Conn
	line    *redisline.Line
	log     *fleet.Log
	desk    *fleet.Desk // nil without a portal
	strikes strikes
}

// joinLine takes part in the line that all instances share. Redis need not be
// there yet.
func (a *App) joinLine(c *config.Config, now time.Time) error {
	conn, err := redisline.ParseURL(string(c.RedisURL))
	if err != nil {
		return err
	}
	a.shared.conn = conn
	a.shared.line = a.sharedLine(c, c.RedisRoom, lineSettings(c))
	a.line = a.shared.line
	join(context.Background(), a.shared.line, now)
	return nil
}

// sharedLine is this process's part of the line of a room in Redis.
func (a *App) sharedLine(c *config.Config, room string, set line.Settings) *redisline.Line {
	return redisline.New(redisline.Options{
		Conn: a.shared.conn, Room: room, Instance: c.InstanceName(), Settings: set,
		Down: c.RedisDown, Returning: true, Log: a.log,
	})
}

// join makes a line known to Redis. A failure is logged there, and it goes on
// trying.
func join(ctx context.Context, l *redisline.Line, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, redisTime)
	defer cancel()
	_ = l.Join(ctx, now)
}

// listen is what a shared line takes beside being driven, until ctx ends.
func (s *shared) listen(ctx context.Context) {
	if s.line != nil {
		s.line.Run(ctx)
	}
}

// leaveLine gives back what this process holds of a shared line, once nobody uses
// it any more.
func (a *App) leaveLine() {
	if a.shared.line == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), redisTime)
	defer cancel()
	err := a.shared.line.Close(ctx)
	for _, r := range a.inline.all() {
		err = errors.Join(err, r.shared.Close(ctx))
	}
	if err != nil {
		a.log.Warn("the slots of this instance are free for others in eight seconds", "error", err)
	}
	a.shared.conn.Close()
}

// instances is what is known of all instances; nothing with a line of one's own.
func (a *App) instances() redisline.Fleet {
	if a.shared.line == nil {
		return redisline.Fleet{}
	}
	return a.shared.line.Fleet()
}

// fleetView is the part of the statistics that tells of all instances.
type fleetView struct {
	Redis     string         `json:"redis"`      // up or away
	RedisDown string         `json:"redis_down"` // what is done while it is away
	Lent      int            `json:"lent"`       // slots lent to instances
	LostTotal int            `json:"lost_total"` // instances that were given up
	Instances []instanceView `json:"instances"`  // as of the last heartbeat
}

type instanceView struct {
	Name     string `json:"name"`
	Me       bool   `json:"me"` // it answers this request
	SilentMS int64  `json:"silent_ms"`
	Lent     int    `json:"lent"`
	InUse    int    `json:"in_use"`
}

// fleetView is nil with a line of one's own.
func (a *App) fleetView() *fleetView {
	if a.shared.line == nil {
		return nil
	}
	f := a.instances()
	v := &fleetView{Redis: "up", RedisDown: a.cfg.Load().RedisDown.String(), Lent: f.Lent, LostTotal: f.Lost, Instances: []instanceView{}}
	if f.Down {
		v.Redis = "away"
	}
	for _, i := range f.Instances {
		v.Instances = append(v.Instances, instanceView{i.Name, i.Me, i.Silent.Milliseconds(), i.Lent, i.Used})
	}
	return v
}

// fleetRows is the part of the table of metrics that tells of a shared line.
func (a *App) fleetRows() []metrics.Row {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	of := func(read func(redisline.Fleet) float64) func() float64 {
		return func() float64 { return read(a.instances()) }
	}
	return []metrics.Row{
		{Name: "fleet_instances", Help: "Instances that share the line, as far as this one knows; 0 with a line of its own.", Type: gauge, Value: of(func(f redisline.Fleet) float64 { return float64(len(f.Instances)) })},
		{Name: "redis_away", Help: "1 while Redis is away and this instance is on its own.", Type: gauge, Value: of(func(f redisline.Fleet) float64 {
			if f.Down {
				return 1
			}
			return 0
		})},
		{Name: "redis_calls_total", Help: "Calls of the script that is the shared line.", Type: counter, Value: of(func(f redisline.Fleet) float64 { return float64(f.Calls) })},
		{Name: "redis_quick_total", Help: "Page slots given by this instance without asking Redis.", Type: counter, Value: of(func(f redisline.Fleet) float64 { return float64(f.Quick) })},
		{Name: "redis_alone_total", Help: "Page slots given by this instance while Redis was away.", Type: counter, Value: of(func(f redisline.Fleet) float64 { return float64(f.Alone) })},
	}
}
