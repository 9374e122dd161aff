package abuse

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestExemptAddresses(t *testing.T) {
	c := config()
	c.Allow, c.Proxies = trust(t, "198.51.100.0/24,2001:db8:1:2::7"), trust(t, "127.0.0.1")
	r := registry(t, c)
	for _, a := range []string{"198.51.100.9", "::ffff:198.51.100.9", "127.0.0.1", "2001:db8:1:2::7"} {
		r.Strike(addr(a), "churn", 100, start)
		if r.Trap(addr(a), "/.env", start) != nil || !r.Exempt(addr(a)) {
			t.Errorf("%s is not exempt", a)
		}
		wantBanned(t, r, a, start, 0)
	}
	if s := r.Stats(start); s.StrikesAll != 0 || s.Tracked != 0 {
		t.Errorf("stats %+v: exempt addresses were struck", s)
	}
	for _, who := range []string{"198.51.100.9", "198.51.100.128/25"} {
		if _, err := r.Ban(Order{Client: client(t, who), Permanent: true}, start); !errors.Is(err, ErrExempt) {
			t.Errorf("ban of %s: %v", who, err)
		}
	}
	order(t, r, "198.51.0.0/16", 0, start)
	wantBanned(t, r, "198.51.100.9", start, 0)
	wantBanned(t, r, "198.51.101.9", start, 1<<63-1)
	r.Strike(addr("2001:db8:1:2::8"), "churn", 20, start)
	wantBanned(t, r, "2001:db8:1:2::8", start, 5*time.Minute)
	wantBanned(t, r, "2001:db8:1:2::7", start, 0)
	if got := fmt.Sprint(r.ExemptWithin(client(t, "198.51.0.0/16"))); got != "[198.51.100.0/24]" {
		t.Errorf("exempt within the range: %s", got)
	}
}

func TestExemptionFreesAtOnce(t *testing.T) {
	r := registry(t, config())
	order(t, r, "203.0.113.9", 0, start)
	r.Trap(addr("203.0.113.10"), "/.env", start)
	r.Trap(addr("2001:db8:1:2::7"), "/.env", start)
	c := config()
	c.Allow = trust(t, "203.0.113.9,2001:db8:1:2::7")
	c.Proxies = trust(t, "203.0.113.10")
	if err := r.Apply(c, start); err != nil {
		t.Fatal(err)
	}
	wantBanned(t, r, "203.0.113.9", start, 0)
	wantBanned(t, r, "203.0.113.10", start, 0)
	wantBanned(t, r, "2001:db8:1:2::7", start, 0)
	wantBanned(t, r, "2001:db8:1:2::8", start, 5*time.Minute)
	if bans := r.List(Filter{}, start); len(bans) != 1 {
		t.Errorf("%d bans are listed, want that of the /64", len(bans))
	}
	if err := r.Apply(config(), start); err != nil {
		t.Fatal(err)
	}
	wantBanned(t, r, "203.0.113.9", start, 0) // free for good
}
