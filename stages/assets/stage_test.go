package assets

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

func TestPassIsHeldToItsOwnCap(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		cap   int
	}{
		{"http1", []string{"User=a"}, small.UserH1},
		{"http2", []string{"User=a", "H2"}, small.UserH2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, small)
				b.askTimes(c.cap, c.words...)
				over := b.ask(c.words...)
				b.wantHolding(int32(c.cap))

				time.Sleep(small.UserWait)
				synctest.Wait()
				over.wantAnswer(t, http.StatusTooManyRequests, "1")
				if n := b.strikes.Load(); n != 1 {
					t.Errorf("%d strikes, want 1", n)
				}
				b.wantStats(Stats{InFlight: c.cap, Users: 1, Served: uint64(c.cap), UserThrottled: 1})
				b.finish(c.cap)
			})
		})
	}
}

func TestFamiliesHavePoolsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.UserH1, "User=a")
		b.ask("User=a", "H2")
		b.wantHolding(int32(small.UserH1) + 1)
		b.finish(small.UserH1 + 1)
	})
}

func TestWaiterGetsTheSlotThatBecomesFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.UserH1, "User=a")
		waiter := b.ask("User=a")
		time.Sleep(small.UserWait - time.Millisecond)
		b.finish(1)
		b.wantHolding(int32(small.UserH1))
		b.finish(small.UserH1)
		waiter.wantAnswer(t, http.StatusOK, "")
		b.wantStats(Stats{Users: 1, Served: uint64(small.UserH1) + 1})
	})
}

func TestGlobalCapIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		for i := range small.Global - 1 {
			b.ask(fmt.Sprintf("User=%d", i))
		}
		b.ask("Public")
		private, public := b.ask("User=last"), b.ask("Public")
		b.wantHolding(int32(small.Global))

		time.Sleep(small.GlobalWait)
		synctest.Wait()
		private.wantAnswer(t, http.StatusServiceUnavailable, "1")
		public.wantAnswer(t, http.StatusServiceUnavailable, "1")
		if n := b.strikes.Load(); n != 0 {
			t.Errorf("%d strikes for a full global pool, want none", n)
		}
		b.wantStats(Stats{InFlight: small.Global, Users: small.Global, Served: uint64(small.Global), GlobalThrottled: 2})
		b.finish(small.Global)
	})
}

// A refused request must not keep the slot of its own pool that it already had.
func TestRefusalGivesBackTheUserSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := small
		c.Global, c.GlobalWait = 1, 0
		b := newBed(t, c)
		b.ask("Public")
		for range 3 * c.UserH1 {
			b.ask("User=a").wantAnswer(t, http.StatusServiceUnavailable, "1")
		}
		b.finish(1)
		b.askTimes(1, "User=a")
		b.wantHolding(1)
		b.finish(1)
	})
}

func TestPublicAssetsSharePoolsWithNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.Global, "Public")
		b.wantHolding(int32(small.Global))
		b.wantStats(Stats{InFlight: small.Global, Served: uint64(small.Global)})
		b.finish(small.Global)
	})
}

// Whoever leaves a page with images under way is no abuser.
func TestHangingUpWhileWaitingIsNoOffence(t *testing.T) {
	for _, c := range []struct {
		name string
		fill string // what takes the slots
	}{
		{"own pool", "User=a"},
		{"global pool", "Public"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caps := small
				caps.Global = 2
				b := newBed(t, caps)
				b.askTimes(2, c.fill)
				waiter := b.ask("User=a")
				waiter.hangUp()
				synctest.Wait()
				if !waiter.done.Load() || waiter.Body.Len() != 0 {
					t.Error("the request of a client that left goes on")
				}
				if n := b.strikes.Load(); n != 0 {
					t.Errorf("%d strikes, want none", n)
				}
				if st := b.stage.Stats(); st.UserThrottled+st.GlobalThrottled != 0 {
					t.Errorf("counted as throttled: %+v", st)
				}
				if n := b.p.Stats().Refused[pipeline.ClientGone]; n != 1 {
					t.Errorf("%d visits counted as gone, want 1", n)
				}
				b.finish(2)
				b.wantStats(Stats{Users: b.stage.Stats().Users, Served: 2})
			})
		})
	}
}

func TestShrinkCountsThoseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.UserH2, "User=a", "H2")
		b.ask("Public")
		smaller := small
		smaller.Caps = Caps{UserH1: 1, UserH2: 1, Global: 2}
		if err := b.stage.Apply(smaller); err != nil {
			t.Fatal(err)
		}
		b.finish(2) // two of four are left: the global pool is exactly full
		waiter := b.ask("Public")
		b.wantHolding(2)
		b.finish(1)
		b.wantHolding(2)
		b.finish(2)
		waiter.wantAnswer(t, http.StatusOK, "")
	})
}

func TestGrowthLetsWaitersIn(t *testing.T) {
	grown := small
	grown.UserH1, grown.UserH2, grown.Global = small.UserH1+1, small.UserH2+1, small.Global+1
	for _, c := range []struct {
		name          string
		words         []string
		before, after int
	}{
		{"http1", []string{"User=a"}, small.UserH1, grown.UserH1},
		{"http2", []string{"User=a", "H2"}, small.UserH2, grown.UserH2},
		{"global", []string{"Public"}, small.Global, grown.Global},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, small)
				b.askTimes(c.after, c.words...)
				b.wantHolding(int32(c.before))
				if err := b.stage.Apply(grown); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				b.wantHolding(int32(c.after))
				b.finish(c.after)
			})
		})
	}
}

func TestApplyChangesTheWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		c := small
		c.UserWait = 0
		if err := b.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
		b.askTimes(c.UserH1, "User=a")
		b.ask("User=a").wantAnswer(t, http.StatusTooManyRequests, "1")
		b.finish(c.UserH1)
	})
}

func TestIdlePoolsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.ask("User=idle")
		b.finish(1)
		b.ask("User=busy")
		sweep := func() int { return b.stage.Sweep(time.Now()) }
		for range 3 {
			time.Sleep(small.IdleTTL)
			sweep()
		}
		b.wantStats(Stats{InFlight: 1, Users: 1, Served: 2})
		b.finish(1)
	})
}

func TestBadSettingsAreNamedAndChangeNothing(t *testing.T) {
	bad := Config{UserWait: -1, GlobalWait: -1}
	_, err := New(bad)
	if err == nil {
		t.Fatal("New accepts them")
	}
	for _, want := range []string{"HTTP/1 cap", "HTTP/2 cap", "global cap", "wait per pass", "global wait", "idle time"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name the %s", err, want)
		}
	}
	b := newBed(t, small)
	if b.stage.Apply(bad) == nil {
		t.Error("a bad change is accepted")
	}
	if got := *b.stage.settings.Load(); got != small {
		t.Errorf("settings are %+v, want %+v", got, small)
	}
	if b.stage.global.Cap() != small.Global {
		t.Errorf("global cap is %d, want %d", b.stage.global.Cap(), small.Global)
	}
}
