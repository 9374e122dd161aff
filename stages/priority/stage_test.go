package priority

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

func TestAnIdleSiteServesEveryRankAlike(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		r.wantStatus("guest", r.call("GET", "/a").Code, 200)
		r.wantStatus("staff", r.call("GET", "/a", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour)).Code, 200)
		r.wantStatus("form", r.call("POST", "/a", pass("p")).Code, 200)
		if st := r.stage.Stats(); st.Served != 0 {
			t.Errorf("the lane was used: %+v", st)
		}
	})
}

func TestLaneRankSkipsTheLine(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		defer r.hold("/hold")()
		if w := r.call("GET", "/a", pass("p"), r.grant("p", pipeline.Prospect, 0, time.Hour)); w.Code != 202 || w.Header().Get("Test-Rank") != "prospect" {
			t.Errorf("below the lane's rank: %d as %s", w.Code, w.Header().Get("Test-Rank"))
		}
		r.wantStatus("customer", r.call("GET", "/a", pass("p"), r.grant("p", pipeline.Customer, 0, time.Hour)).Code, 200)
		if st := r.stage.Stats(); st.Served != 1 || st.Requests[pipeline.Customer] != 1 {
			t.Errorf("stats: %+v", st)
		}
	})
}

// With the lane full a visit waits as long as configured, then joins the line
// with its rank.
func TestWaitsThenJoinsTheLine(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		staff := r.grant("p", pipeline.Staff, 0, time.Hour)
		defer r.hold("/hold")()
		defer r.hold("/hold2", pass("p"), staff)()
		a := r.send("GET", "/a", pass("q"), r.grant("q", pipeline.Staff, 0, time.Hour))
		time.Sleep(5*time.Second - time.Millisecond)
		r.wantStatus("while it waits", a.over(), 0)
		time.Sleep(time.Millisecond)
		r.wantStatus("after the wait", a.over(), 202)
		if rank := a.Header().Get("Test-Rank"); rank != "staff" || a.took != 5*time.Second {
			t.Errorf("joined as %s after %v", rank, a.took)
		}
	})
}

// Whoever is in line already goes to their place instead of waiting again.
func TestWhoHasAPlaceDoesNotWait(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		staff := func(id string) []option {
			return []option{pass(id), r.grant(id, pipeline.Staff, 0, time.Hour), header("Test-Placed", "1")}
		}
		defer r.hold("/hold")()
		r.wantStatus("a free slot of the lane", r.call("GET", "/a", staff("q")...).Code, 200)
		free := r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))
		a := r.send("GET", "/a", staff("q")...)
		r.wantStatus("a full lane", a.over(), 202)
		free()
	})
}

func TestGlimpsesDoNotWait(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		defer r.hold("/hold")()
		defer r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))()
		staff := r.grant("q", pipeline.Staff, 0, time.Hour)
		r.wantStatus("HEAD", r.send("HEAD", "/a", pass("q"), staff).over(), 202)
		r.wantStatus("prefetch", r.send("GET", "/a", pass("q"), staff, header("Sec-Purpose", "prefetch;prerender")).over(), 202)
	})
}

// TestOriginNeverSeesMoreThanBothCaps holds invariant 1.
func TestOriginNeverSeesMoreThanBothCaps(t *testing.T) {
	bubble(t, 3, func(c *Config) { c.Cap = 2 }, func(r *rig) {
		var all sync.WaitGroup
		for i := range 60 {
			id := fmt.Sprint("p", i)
			grant := r.grant(id, pipeline.Rank(i%int(pipeline.NumRanks)), 0, time.Hour)
			all.Go(func() { r.call("POST", "/slow", pass(id), grant) })
			all.Go(func() { r.call("GET", "/slow", pass(id), grant) })
		}
		all.Wait()
		if peak := r.peak.Load(); peak != 5 {
			t.Errorf("invariant 1: %d at the origin at once, want 5", peak)
		}
	})
}

func TestLaneCapFollowsThePageCap(t *testing.T) {
	for cap, want := range map[int]int{1: 1, 4: 1, 8: 2, 434: 108} {
		if got := LaneSlots(0, cap); got != want {
			t.Errorf("a page cap of %d derives %d slots, want %d", cap, got, want)
		}
	}
	bubble(t, 1, func(c *Config) { c.Cap = 0 }, func(r *rig) {
		defer r.hold("/hold")()
		r.call("POST", "/a", pass("p"))
		if st := r.stage.Stats(); st.LaneCap != 1 {
			t.Errorf("%+v", st)
		}
		s := r.line.Stats(time.Now()).Settings
		s.Policy.Cap = 40
		_ = r.line.Configure(context.Background(), time.Now(), s)
		c := r.stage.settings.Load().Config
		if err := r.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
		if st := r.stage.Stats(); st.LaneCap != 10 {
			t.Errorf("after a change of the page cap: %+v", st)
		}
	})
}

func TestPausedAndClosedRoomsHaveNoLane(t *testing.T) {
	for _, mode := range []line.Mode{line.Paused, line.Closed} {
		bubble(t, 1, nil, func(r *rig) {
			s := r.line.Stats(time.Now()).Settings
			s.Mode = mode
			_ = r.line.Configure(context.Background(), time.Now(), s)
			staff := r.grant("p", pipeline.Staff, 0, time.Hour)
			r.wantStatus("page", r.call("GET", "/a", pass("p"), staff).Code, 202)
			r.wantStatus("form", r.call("POST", "/a", pass("p"), staff).Code, 503)
			if r.origin() != "" {
				t.Errorf("mode %d: the origin got %s", mode, r.origin())
			}
		})
	}
}

// A page slot that comes free serves whoever waits in the lane as well.
func TestWaitersTakeFreePageSlots(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		s := r.line.Stats(time.Now()).Settings
		s.DoorMax, s.DoorWait = 10, 3*time.Second
		_ = r.line.Configure(context.Background(), time.Now(), s)
		freePage := r.hold("/hold")
		freeLane := r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))
		a := r.send("POST", "/a", pass("q"))
		time.Sleep(4500 * time.Millisecond) // longer than the door's patience
		r.wantStatus("with both full", a.over(), 0)
		freePage()
		time.Sleep(time.Second)
		r.wantStatus("with a page slot free", a.over(), 200)
		freeLane()
	})
}

func TestLeavingWhileWaiting(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		bubble(t, 1, nil, func(r *rig) {
			staff := func(id string) option { return r.grant(id, pipeline.Staff, 0, time.Hour) }
			freePage := r.hold("/hold")
			freeLane := r.hold("/hold2", pass("p"), staff("p"))
			ctx, leave := context.WithCancel(context.Background())
			a := r.send(method, "/gone", pass("q"), staff("q"), until(ctx))
			b := r.send("POST", "/stays", pass("s"), staff("s"))
			time.Sleep(time.Second)
			leave()
			synctest.Wait()
			time.Sleep(time.Second)
			freeLane()
			r.wantStatus("who stays", b.over(), 200)
			a.over()
			if strings.Contains(r.origin(), "/gone") {
				t.Errorf("the origin got %s", r.origin())
			}
			freePage()
			if st := r.stage.Stats(); st.Gone != 1 {
				t.Errorf("%s: %+v", method, st)
			}
		})
	}
}

// A grant that meets a client on the way out goes to the next in the lane.
func TestLeavingAsTheSlotIsGranted(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		defer r.hold("/hold")()
		freeLane := r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))
		ctx, leave := context.WithCancel(context.Background())
		a := r.send("POST", "/gone", pass("q"), until(ctx))
		b := r.send("POST", "/stays", pass("s"))
		r.stage.lane.mu.Lock() // the leaving client meets the grant here
		leave()
		r.stage.lane.held--
		r.stage.lane.forgetLocked(passKey(&pipeline.Visit{Pass: pipeline.Pass{ID: [16]byte{'p'}}}))
		r.stage.lane.serveLocked(time.Now())
		r.stage.lane.mu.Unlock()
		a.over()
		r.wantStatus("who stays", b.over(), 200)
		if strings.Contains(r.origin(), "/gone") {
			t.Errorf("the origin got %s", r.origin())
		}
		r.stage.lane.mu.Lock() // what /hold2 will give back once more
		r.stage.lane.held++
		r.stage.lane.passes[passKey(&pipeline.Visit{Pass: pipeline.Pass{ID: [16]byte{'p'}}})]++
		r.stage.lane.mu.Unlock()
		freeLane()
	})
}

func TestBadSettingsAreNamedAndChangeNothing(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		good := r.stage.settings.Load()
		for want, change := range map[string]func(*Config){
			"no line":     func(c *Config) { c.Line = nil },
			"keyring":     func(c *Config) { c.Grants = nil },
			"-1 slots":    func(c *Config) { c.Cap = -1 },
			"rank is 0":   func(c *Config) { c.LaneRank = pipeline.Guest },
			"rank is 8":   func(c *Config) { c.LaneRank = NoLane + 1 },
			"wait is":     func(c *Config) { c.Wait = MaxWait + 1 },
			"form hold":   func(c *Config) { c.FormHold = -1 },
			"retry-after": func(c *Config) { c.RetryAfter = 0 },
			"cookie":      func(c *Config) { c.CookiePath = "/;\n" },
		} {
			c := good.Config
			change(&c)
			if err := r.stage.Apply(c); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want it to say %q", err, want)
			}
			if _, err := New(c); err == nil {
				t.Errorf("New accepts: %s", want)
			}
		}
		if r.stage.settings.Load() != good {
			t.Error("a bad change was applied")
		}
	})
}

func TestNoRankUsesASwitchedOffLane(t *testing.T) {
	bubble(t, 1, func(c *Config) { c.LaneRank, c.Forms = NoLane, false }, func(r *rig) {
		defer r.hold("/hold")()
		staff := r.grant("p", pipeline.Staff, 0, time.Hour)
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r.wantStatus(method, r.call(method, "/a", pass("p"), staff).Code, 202)
		}
	})
}
