package history

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/pipeline"
)

func TestBanWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := inMemory()
		began := time.Now()
		until := began.Add(5 * time.Minute)
		probe := blocked("192.0.2.1", "/.env") // bans itself
		h.Banned(banned("192.0.2.1/32", probe.Start, until))
		h.Observe(probe)
		time.Sleep(time.Minute)
		h.Observe(blocked("192.0.2.1", "/wp-login.php"))
		h.Observe(blocked("192.0.2.1", "/wp-login.php"))
		h.Observe(blocked("192.0.2.7", "/")) // nobody told of that ban
		h.Banned(banned("192.0.2.1/32", time.Now(), until.Add(time.Hour)))
		want := BanView{
			Number: 1, Target: "192.0.2.1", State: StateActive, Begin: began.UTC(), Until: until.Add(time.Hour).UTC(),
			Changes: 1, Source: "forged-pass", Requests: 3, Paths: map[string]uint64{"/.env": 1, "/wp-login.php": 2},
			Addresses: map[string]uint64{"192.0.2.1": 3},
			Trigger:   &Trigger{Client: "192.0.2.1", Method: "GET", Path: "/.env", Status: 429, At: began.UTC()},
		}
		got, _ := h.Ban(1, time.Now())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		want1 := "429 /.env blocked triggered by 1; 429 /wp-login.php blocked by 1; 429 /wp-login.php blocked by 1; "
		if got := shown(h, "192.0.2.1"); got != want1 {
			t.Errorf("%s, want %s", got, want1)
		}
		if got := shown(h, "192.0.2.7"); got != "429 / blocked; " {
			t.Error(got)
		}

		f := func(wait time.Duration, state string) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			h.Sweep(time.Now())
			got, _ := h.Ban(1, time.Now())
			if got.State != state {
				t.Errorf("after %v: %q, want %q", wait, got.State, state)
			}
		}
		f(0, StateActive)
		f(65*time.Minute, StateExpired)
		f(71*time.Hour+59*time.Minute-1, StateExpired)
		f(2*time.Minute, "")
	})
}

func TestBanStates(t *testing.T) {
	h := inMemory()
	now := time.Now()
	h.Banned(banned("192.0.2.1/32", now, time.Time{}))
	h.Banned(banned("192.0.2.2/32", now, now.Add(time.Hour)))
	h.Lifted(netip.MustParsePrefix("192.0.2.2/32"), now.Add(time.Minute), "operator")
	h.Lifted(netip.MustParsePrefix("192.0.2.9/32"), now, "operator")
	h.Banned(banned("192.0.2.2/32", now.Add(2*time.Minute), now.Add(time.Hour)))
	h.Banned(banned("2001:db8::/32", now, now.Add(time.Hour)))
	var got []string
	for _, b := range h.Bans(now.Add(3 * time.Minute)) {
		got = append(got, fmt.Sprint(b.Number, " ", b.Target, " ", b.State, " ", b.Range, " ", b.LiftedBy))
	}
	want := []string{"4 2001:db8::/32 active true ", "3 192.0.2.2 active false ", "2 192.0.2.2 lifted false operator", "1 192.0.2.1 permanent false "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNarrowestBanCounts(t *testing.T) {
	h := inMemory()
	now := time.Now().Add(-time.Second)
	for _, target := range []string{"10.0.0.0/8", "10.1.0.0/16", "10.1.1.1/32", "2001:db8::/32", "2001:db8::/64"} {
		h.Banned(banned(target, now, time.Time{}))
	}
	for ip, want := range map[string]string{
		"10.9.9.9": "429 / blocked by 1; ", "10.1.9.9": "429 / blocked by 2; ", "10.1.1.1": "429 / blocked by 3; ",
		"2001:db8:1::": "429 / blocked by 4; ", "2001:db8::1": "429 / blocked by 5; ", "11.0.0.0": "429 / blocked; ",
	} {
		h.Observe(blocked(ip, "/"))
		if got := shown(h, ip); got != want {
			t.Errorf("%s: %s, want %s", ip, got, want)
		}
	}
}

// The poll of a banned client is answered 200, and is recorded all the same.
func TestPollsOfBannedClients(t *testing.T) {
	h := inMemory()
	h.Banned(banned("192.0.2.1/32", time.Now().Add(-time.Second), time.Time{}))
	for _, ip := range []string{"192.0.2.1", "192.0.2.2"} {
		v := visit(ip, "/queue/status", 200)
		v.Class, v.Turned = pipeline.Operations, ip == "192.0.2.1"
		h.Observe(v)
	}
	if got := shown(h, "192.0.2.1") + shown(h, "192.0.2.2"); got != "200 /queue/status blocked by 1; " {
		t.Error(got)
	}
}

// D85: behind one address many clients ask at once; the one that was struck
// last is to blame, not the one that asked last.
func TestCauseIsNotGuessed(t *testing.T) {
	h := inMemory()
	guilty, neighbour := visit("192.0.2.1", "/style.css", 200), visit("192.0.2.1", "/innocent", 200)
	guilty.Class = pipeline.Asset // would not be recorded otherwise
	h.Cause(guilty, func() {
		h.Cause(neighbour, func() {}) // struck without a ban
		h.Banned(banned("192.0.2.1/32", time.Now(), time.Time{}))
	})
	h.Observe(neighbour)
	h.Observe(blocked("192.0.2.1", "/later"))
	h.Observe(guilty)
	want := "200 /innocent; 429 /later blocked by 1; 200 /style.css triggered by 1; "
	if got := shown(h, "192.0.2.1"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if b, _ := h.Ban(1, time.Now()); b.Trigger == nil || b.Trigger.Path != "/style.css" || b.Requests != 1 {
		t.Errorf("%+v", b)
	}
	if len(h.causing) > 0 || len(h.caused) > 0 || h.causes.Load() != 0 {
		t.Error("visits are kept after their end")
	}
}

func TestBansAreBounded(t *testing.T) {
	h := inMemory()
	now := time.Now()
	for i := range MaxBans + 10 {
		until := now.Add(time.Hour)
		if i == 7 || i == 8 {
			until = now.Add(-time.Duration(i) * time.Second)
		}
		h.Banned(banned(fmt.Sprintf("10.0.%d.%d/32", i/256, i%256), now.Add(-time.Minute), until))
	}
	got := len(h.bans.inForce)
	if n := h.Stats().Bans; n != MaxBans || got > MaxBans {
		t.Errorf("%d bans, %d in force", n, got)
	}
	for number, want := range map[uint64]bool{8: false, 9: false, 1: false, 20: true, MaxBans + 10: true} {
		if _, ok := h.Ban(number, now); ok != want {
			t.Errorf("ban %d is remembered: %v, want %v", number, ok, want)
		}
	}
}

func TestPathsOfABanAreBounded(t *testing.T) {
	h := inMemory()
	now := time.Now()
	h.Banned(banned("10.0.0.0/8", now.Add(-time.Second), time.Time{}))
	for i := range 1000 {
		h.Observe(blocked(fmt.Sprintf("10.0.%d.%d", i/256, i%256), fmt.Sprint("/", i)))
	}
	b, _ := h.Ban(1, now)
	if len(b.Paths) != 100 || len(b.Addresses) != 100 || b.Others != 900 || b.Beyond != 900 || b.Requests != 1000 {
		t.Errorf("%d paths and %d others, %d addresses and %d beyond", len(b.Paths), b.Others, len(b.Addresses), b.Beyond)
	}
}
