package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/gatetest"
	"github.com/andreimerlescu/concert/internal/rawtest"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/line/redis/redistest"
	"github.com/andreimerlescu/concert/persist"
)

// server is a real Redis, with the settings that deploy/ gives it.
type server struct {
	*redistest.Server
	t *testing.T
}

func startServer(t *testing.T, options ...string) *server {
	t.Helper()
	return &server{redistest.Start(t, append([]string{"--appendonly", "yes", "--maxmemory-policy", "noeviction"}, options...)...), t}
}

func (s *server) open(o Options) *Store {
	s.t.Helper()
	if o.Conn == nil {
		o.Conn = s.conn(s.URL())
	}
	store := New(o)
	s.t.Cleanup(store.Close)
	return store
}

func (s *server) conn(url string) *redisline.Conn {
	s.t.Helper()
	c, err := redisline.ParseURL(url)
	if err != nil {
		s.t.Fatal(err)
	}
	c.CallTimeout = rawtest.Patience
	rawtest.Until(s.t, "redis is reached", func() bool { _, err := c.Client(); return err == nil })
	return c
}

func TestContract(t *testing.T) {
	s := startServer(t)
	var prefixes atomic.Int64
	t.Run("store", func(t *testing.T) { // waits for its parallel parts before the server ends
		gatetest.Run(t, gatetest.Small, func(t *testing.T, _ time.Time) gate.Store {
			return s.open(Options{Prefix: strconv.FormatInt(prefixes.Add(1), 10) + ":", Clock: true})
		})
	})
}

// TestManyProcesses has several stores, as processes have them, let in a crowd
// together: no ticket twice, and no more than one process alone would.
func TestManyProcesses(t *testing.T) {
	s := startServer(t)
	stores := []*Store{s.open(Options{Clock: true}), s.open(Options{Clock: true}), s.open(Options{Clock: true})}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	room := gate.DefaultRoom()
	room.ID, room.Inflow, room.IntervalSec, room.Burst = "demo", 5, 10, 5
	if _, err := stores[0].Create(t.Context(), now, persist.By{}, room); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards seen
	var seen []uint64
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			st, err := stores[i%3].Join(t.Context(), now, "demo")
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, st.Ticket.Number)
		})
	}
	wg.Wait()
	slices.Sort(seen)
	if n := len(slices.Compact(seen)); n != 60 {
		t.Errorf("%d tickets for 60 visitors", n)
	}
	for i := range 10 { // operators at the same time: every change counts
		wg.Go(func() {
			if _, err := stores[i%3].AddMessage(t.Context(), now, persist.By{}, "demo", gate.Message{Text: fmt.Sprint(i), Level: gate.Info}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := stores[1].Messages(t.Context(), "demo"); err != nil || len(all) != 10 {
		t.Errorf("%d messages, %v", len(all), err)
	}
	now = now.Add(10 * time.Second)
	for range 9 {
		for _, store := range stores {
			wg.Go(func() {
				if _, err := store.Room(t.Context(), now, "demo"); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if l, err := stores[2].Room(t.Context(), now, "demo"); err != nil || l.Admitted != 10 {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestServerTime: without a clock of its own a store goes by the server's,
// whatever time it is given. This one asks for a password.
func TestServerTime(t *testing.T) {
	s := startServer(t)
	c := s.Client(t)
	if err := c.Do(t.Context(), c.B().ConfigSet().ParameterValue().ParameterValue("requirepass", "of-the-tests").Build()).Error(); err != nil {
		t.Fatal(err)
	}
	store := s.open(Options{Conn: s.conn("redis://:of-the-tests@" + s.Addr)})
	long := time.Unix(1, 0)
	room := gate.DefaultRoom()
	room.ID = "demo"
	if _, err := store.Create(t.Context(), long, persist.By{}, room); err != nil {
		t.Fatal(err)
	}
	st, err := store.Join(t.Context(), long, "demo")
	if err != nil || !st.Admitted {
		t.Fatalf("%+v, %v", st, err)
	}
	g, err := store.Exchange(t.Context(), long, "demo", st.Ticket)
	if err != nil || time.Since(g.At) > time.Minute || g.At.After(time.Now().Add(2*time.Second)) {
		t.Errorf("exchanged at %v, %v", g.At, err)
	}
}

// TestRedisIsAway: while it is, nobody is let in and nothing is lost; afterwards
// it goes on.
func TestRedisIsAway(t *testing.T) {
	s := startServer(t, "--appendfsync", "always")
	store := s.open(Options{Clock: true})
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	room := gate.DefaultRoom()
	room.ID, room.Inflow, room.IntervalSec, room.Burst = "demo", 1, 10, 1
	if _, err := store.Create(t.Context(), now, persist.By{}, room); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Join(t.Context(), now, "demo"); err != nil {
		t.Fatal(err)
	}
	st, err := store.Join(t.Context(), now, "demo")
	if err != nil {
		t.Fatal(err)
	}
	s.Kill()
	for what, ask := range map[string]func() error{
		"join":   func() error { _, err := store.Join(t.Context(), now, "demo"); return err },
		"poll":   func() error { _, err := store.Poll(t.Context(), now, "demo", st.Ticket); return err },
		"rooms":  func() error { _, err := store.Rooms(t.Context(), now); return err },
		"spend":  func() error { _, err := store.Spend(t.Context(), now, "x", now); return err },
		"pause":  func() error { _, err := store.Act(t.Context(), now, persist.By{}, "demo", gate.Pause); return err },
		"create": func() error { _, err := store.Create(t.Context(), now, persist.By{}, room); return err },
	} {
		if err := ask(); !errors.Is(err, gate.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.Restart()
	now = now.Add(10 * time.Second)
	rawtest.Until(t, "the store goes on", func() bool {
		next, err := store.Resume(context.WithoutCancel(t.Context()), now, "demo", st.Ticket)
		return err == nil && next.Admitted && next.Ticket.Number == 2
	})
	var live gate.Live
	rawtest.Until(t, "every connection is a new one", func() bool { // each is found dead when it is used
		var err error
		live, err = store.Room(t.Context(), now, "demo")
		return err == nil
	})
	if live.Issued != 2 || live.Admitted != 2 {
		t.Errorf("%+v", live)
	}
}

// TestCrowdLosesRedis: twenty thousand join at 500 in ten seconds, and Redis is
// killed while many of them ask.
func TestCrowdLosesRedis(t *testing.T) {
	s := startServer(t)
	store := s.open(Options{Clock: true})
	c := s.Client(t)
	crowd := gatetest.Crowd
	if testing.Short() {
		crowd = gatetest.Small
	}
	gatetest.Lost(t, crowd, gatetest.Loss{
		Store: store,
		Durable: func() {
			if err := c.Do(t.Context(), c.B().ConfigSet().ParameterValue().ParameterValue("appendfsync", "always").Build()).Error(); err != nil {
				t.Fatal(err)
			}
		},
		Lose: s.Kill,
		Back: func() {
			s.Restart()
			rawtest.Until(t, "Redis is back", func() bool { _, err := store.Messages(context.WithoutCancel(t.Context()), "demo"); return err == nil })
		},
	})
}
