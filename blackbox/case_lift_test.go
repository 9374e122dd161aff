package blackbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// listed returns the bans in force, as GET /_room/abuse lists them.
func listed(t *testing.T, p *launch.Process) []string {
	t.Helper()
	status, body := call(t, http.MethodGet, p.URL+"/_room/abuse", adminToken, "")
	var list struct {
		Bans []struct {
			Client string `json:"client"`
		} `json:"bans"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
		t.Fatalf("list: status %d, body %q, %v", status, body, err)
	}
	names := []string{}
	for _, b := range list.Bans {
		names = append(names, b.Client)
	}
	return names
}

// lift lifts a ban; the query is used as it is.
func lift(t *testing.T, p *launch.Process, query string) int {
	t.Helper()
	status, _ := call(t, http.MethodDelete, p.URL+"/_room/abuse?"+query, adminToken, "")
	return status
}

// TestIPv6IsBannedByNetwork: a host has more addresses of its own than anybody
// can list.
func TestIPv6IsBannedByNetwork(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env")
	for _, query := range []string{
		"client=2001:db8:1:2::/64", "client=" + url.QueryEscape("2001:db8:1:2::/64"), "client=2001:db8:1:2::9", "client=2001:DB8:1:2:0::",
	} {
		get(t, p, "2001:db8:1:2::1", "/.env")
		if !blocked(t, p, "2001:db8:1:2:ffff::9") || blocked(t, p, "2001:db8:1:3::1") {
			t.Fatal("want the /64 banned and its neighbour not")
		}
		if got := strings.Join(listed(t, p), " "); got != "2001:db8:1:2::/64" {
			t.Errorf("listed as %q", got)
		}
		if got := lift(t, p, query); got != http.StatusOK || blocked(t, p, "2001:db8:1:2::1") {
			t.Errorf("%s: status %d, or still banned", query, got)
		}
	}
	for query, want := range map[string]int{
		"client=": 400, "": 400, "client=nobody": 400, "client=203.0.113.9": 404, "client=10.0.0.0/3": 400, "client=2001:db8::/12": 400,
		"client=203.0.113.9/33": 400, "client=%zz": 400, "client=::1%25eth0": 400,
	} {
		if got := lift(t, p, query); got != want {
			t.Errorf("%q: status %d, want %d", query, got, want)
		}
	}
}

// TestLadderOfBans: each ban of a client is twice as long as the one before,
// up to the longest, and lifting one forgets them all.
func TestLadderOfBans(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env", "-abuse-cooldown", "100s", "-abuse-max-cooldown", "500s")
	// No ban is waited out here; one that is running does not escalate.
	ban := func() int {
		r := get(t, p, "203.0.113.9", "/.env")
		seconds, err := strconv.Atoi(r.Value("Retry-After"))
		if err != nil || r.Status() != "429" || !strings.Contains(string(r.Body), `"retry_after_seconds":`+r.Value("Retry-After")) {
			t.Fatalf("status %s, Retry-After %q, body %q", r.Status(), r.Value("Retry-After"), r.Body)
		}
		return seconds
	}
	first := ban()
	if again := ban(); first != 100 || again > 100 {
		t.Errorf("first ban %d s, asked again while banned %d s; want 100 for both", first, again)
	}
	for range 4 { // strikes that must be forgotten with the ban
		get(t, p, "203.0.113.10", "/_room/cap", "Authorization: Bearer wrong")
	}
	for _, client := range []string{"203.0.113.9", "203.0.113.10"} {
		if got := lift(t, p, "client="+client); got != http.StatusOK {
			t.Errorf("lift %s: status %d", client, got)
		}
	}
	if got := ban(); got != 100 {
		t.Errorf("after lifting: %d s, want 100 as at first", got)
	}
	get(t, p, "203.0.113.10", "/_room/cap", "Authorization: Bearer wrong")
	if blocked(t, p, "203.0.113.10") {
		t.Error("strikes from before the ban was lifted still count")
	}
}

// TestOperatorsBans: ranges and single clients, temporary and permanent, from
// the admin endpoint; nobody exempt is locked out.
func TestOperatorsBans(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-abuse-allow", "203.0.113.99")
	ban := func(body string) int {
		status, _ := call(t, http.MethodPost, p.URL+"/_room/abuse", adminToken, body)
		return status
	}
	for _, body := range []string{
		`{"client":"203.0.113.0/24","duration":"1h"}`, `{"client":"198.51.100.7","permanent":true}`, `{"client":"2001:db8::/32","permanent":true}`,
	} {
		if got := ban(body); got != http.StatusOK {
			t.Errorf("%s: status %d", body, got)
		}
	}
	for address, want := range map[string]bool{
		"203.0.113.1": true, "203.0.113.99": false, "203.0.114.1": false, "198.51.100.7": true, "198.51.100.8": false,
		"2001:db8:ffff::1": true, "2001:db9::1": false, "::ffff:203.0.113.1": true,
	} {
		if got := blocked(t, p, address); got != want {
			t.Errorf("%s is banned: %v, want %v", address, got, want)
		}
	}
	r := get(t, p, "198.51.100.7", "/")
	if r.Status() != "403" || r.Has("Retry-After") || !strings.Contains(string(r.Body), `"error":"blocked"`) || !strings.Contains(string(r.Body), `"permanent":true`) {
		t.Errorf("permanent: status %s, header %q, body %q", r.Status(), r.Fields, r.Body)
	}
	for _, body := range []string{
		`{"client":"10.0.0.0/7","duration":"1h"}`, `{"client":"2001::/15","duration":"1h"}`, `{"client":"203.0.113.1","duration":"0s"}`,
		`{"client":"203.0.113.1"}`, `{"client":"","duration":"1h"}`, `{}`, `[]`, ``, `{"client":"203.0.113.1","duration":"-1h"}`,
	} {
		if got := ban(body); got != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", body, got)
		}
	}
	for _, body := range []string{`{"client":"203.0.113.99","duration":"1h"}`, `{"client":"127.0.0.1","duration":"1h"}`} {
		if got := ban(body); got != http.StatusConflict {
			t.Errorf("%s: status %d, want 409", body, got)
		}
	}
	if got := lift(t, p, "client=203.0.113.0/24"); got != http.StatusOK || blocked(t, p, "203.0.113.1") {
		t.Errorf("lift the range: status %d, or still banned", got)
	}
}
