package abuse

import (
	"strings"
	"testing"
	"time"
)

func listed(r *Registry, f Filter, now time.Time) string {
	var out []string
	for _, b := range r.List(f, now) {
		out = append(out, strings.TrimSuffix(b.Client.String(), "/32"))
	}
	return strings.Join(out, " ")
}

func TestList(t *testing.T) {
	r := registry(t, config())
	order(t, r, "10.0.0.0/8", time.Hour, start)
	order(t, r, "10.0.0.2", time.Hour, start)
	order(t, r, "10.0.0.1", time.Hour, start)
	order(t, r, "10.0.0.3", 2*time.Hour, start)
	order(t, r, "192.0.2.0/24", 0, start)
	order(t, r, "2001:db8:1:2::9", 0, start)
	r.Trap(addr("198.51.100.7"), "/.ENV", start)
	r.Strike(addr("203.0.113.9"), "churn", 1, start)
	yes, no := true, false
	f := func(what string, filter Filter, at time.Duration, want string) {
		t.Helper()
		if got := listed(r, filter, after(at)); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
		if got, all := r.Count(after(at)), len(r.List(Filter{}, after(at))); got != all {
			t.Errorf("%s: %d are counted of %d", what, got, all)
		}
	}
	f("all", Filter{}, 0, "2001:db8:1:2::/64 192.0.2.0/24 10.0.0.3 10.0.0.1 10.0.0.2 10.0.0.0/8 198.51.100.7")
	f("later", Filter{}, time.Hour, "2001:db8:1:2::/64 192.0.2.0/24 10.0.0.3")
	f("ranges", Filter{Range: &yes}, 0, "192.0.2.0/24 10.0.0.0/8")
	f("temporary ranges", Filter{Range: &yes, Permanent: &no}, 0, "10.0.0.0/8")
	f("permanent", Filter{Permanent: &yes}, 0, "2001:db8:1:2::/64 192.0.2.0/24")
	f("a client and what covers it", Filter{Client: client(t, "10.0.0.1")}, 0, "10.0.0.1 10.0.0.0/8")
	f("a range and what it covers", Filter{Client: client(t, "10.0.0.0/31")}, 0, "10.0.0.1 10.0.0.0/8")
	f("nobody", Filter{Client: client(t, "11.0.0.1")}, 0, "")
	f("text of the client", Filter{Text: "DB8"}, 0, "2001:db8:1:2::/64")
	f("text of the note", Filter{Text: ".env"}, 0, "198.51.100.7")
	f("text of the cause", Filter{Text: "ban-path"}, 0, "198.51.100.7")
	f("text of the operator's name", Filter{Text: "Op", Permanent: &yes, Range: &no}, 0, "2001:db8:1:2::/64")
}
