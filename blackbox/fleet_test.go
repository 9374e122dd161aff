package blackbox

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// member starts an instance that shares its line.
func member(t *testing.T, s *redistest.Server, name, origin string, args ...string) *launch.Process {
	t.Helper()
	return run(t, []string{
		"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret, "CONCERT_REDIS_URL=" + s.URL(),
	}, append([]string{"-upstream", "http://" + origin, "-instance", name}, args...)...)
}

// TestFleetIsOneRoom: what one instance knows, all know within a moment: bans,
// strikes and settings, also those that start later; and there is one line.
// Invariants 1 and 2.
func TestFleetIsOneRoom(t *testing.T) {
	t.Parallel()
	s, o := redistest.Start(t), newOrigin(t)
	a, b := member(t, s, "a", o.Addr(), "-cap", "5"), member(t, s, "b", o.Addr(), "-cap", "5")
	status := func(p *launch.Process, client string) string { return get(t, p, client, "/").Status() }

	admin(t, a, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.7","duration":"1h","note":"x"}`, 200)
	rawtest.Until(t, "a ban is in force on the other instance", func() bool { return status(b, "203.0.113.7") == "429" })
	admin(t, b, http.MethodDelete, "/_room/abuse?client=203.0.113.7", "", 200)
	rawtest.Until(t, "it is lifted where it was ordered", func() bool { return status(a, "203.0.113.7") == "200" })

	wrong := func(p *launch.Process) {
		raw(t, p, trusted, "POST /_room/cap HTTP/1.1", "Host: site.test", asClient("203.0.113.8"),
			"Authorization: Bearer wrong", "Content-Length: 9", "", `{"cap":5}`)
	}
	for range 2 { // four of them ban
		wrong(a)
		wrong(b)
	}
	rawtest.Until(t, "strikes of two instances add up", func() bool {
		return status(a, "203.0.113.8") == "429" && status(b, "203.0.113.8") == "429"
	})

	admin(t, b, http.MethodPatch, "/_room/settings", `{"cap":2,"retry_after":"7"}`, 200)
	rawtest.Until(t, "a setting is changed on the other instance", func() bool {
		return strings.Contains(admin(t, a, http.MethodGet, "/_room/settings", "", 200), `"7"`) && stats(t, a).Cap == 2
	})
	c := member(t, s, "c", o.Addr(), "-cap", "100")
	if got := stats(t, c).Cap; got != 2 {
		t.Errorf("who starts later has cap %d, want 2", got)
	}
	if got := status(c, "203.0.113.8"); got != "429" {
		t.Errorf("a banned client gets %s from who starts later", got)
	}

	var view struct {
		Fleet struct {
			Redis     string
			Instances []struct {
				Name string
				Me   bool
			}
		}
	}
	rawtest.Until(t, "each knows of all three", func() bool {
		text := admin(t, a, http.MethodGet, "/_room/stats", "", 200)
		if err := json.Unmarshal([]byte(text), &view); err != nil {
			t.Fatal(err)
		}
		return len(view.Fleet.Instances) == 3
	})
	for _, i := range view.Fleet.Instances {
		if i.Me != strings.HasPrefix(i.Name, "a-") {
			t.Errorf("instance %s answers as if it were a: %v", i.Name, i.Me)
		}
	}
	if view.Fleet.Redis != "up" {
		t.Errorf("redis is %s", view.Fleet.Redis)
	}
}

// TestFleetHistory: each instance keeps the history of those who came to it, and
// the portal of any shows that of another, or of all.
func TestFleetHistory(t *testing.T) {
	t.Parallel()
	s, o := redistest.Start(t), newOrigin(t)
	start := func(name string) (*launch.Process, string) {
		p := run(t, []string{
			"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret, "CONCERT_REDIS_URL=" + s.URL(),
			"CONCERT_PORTAL_PASS=" + operatorPass,
		}, "-upstream", "http://"+o.Addr(), "-instance", name, "-portal-listen", "127.0.0.2:0")
		return p, portalOf(t, p)
	}
	a, portal := start("a")
	b, _ := start("b")
	get(t, a, "203.0.113.1", "/came-to-a")
	get(t, b, "203.0.113.2", "/came-to-b")
	get(t, a, "203.0.113.3", "/came-to-both")
	get(t, b, "203.0.113.3", "/came-to-both")

	ask := func(target string) string {
		_, text := call(t, http.MethodGet, portal+target, adminToken, "")
		return text
	}
	has := func(text string, parts ...string) bool {
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return false
			}
		}
		return true
	}
	rawtest.Until(t, "one portal shows all visitors", func() bool {
		return has(ask("/api/history?instance=all"), "203.0.113.1", "203.0.113.2", "203.0.113.3", `"requests":2`)
	})
	if text := ask("/api/history"); has(text, "203.0.113.2") || !has(text, "203.0.113.1") {
		t.Errorf("its own history: %s", text)
	}
	env := []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_PORTAL_LISTEN=" + strings.TrimPrefix(portal, "http://")}
	if _, stdout, stderr := exit(t, env, "ctl", "stats"); !regexp.MustCompile(`(?s)redis       up\ninstance    a-.*answers\ninstance    b-|(?s)instance    b-.*instance    a-.*answers`).MatchString(stdout) {
		t.Errorf("ctl stats says %s%s", stdout, stderr)
	}
	other := regexp.MustCompile(`b-[0-9a-z]+`).FindString(ask("/api/history?instance=nobody"))
	if text := ask("/api/frag/visitors?instance=" + other); has(text, "203.0.113.1") || !has(text, "203.0.113.2", "/came-to-b") {
		t.Errorf("the rows of %q: %s", other, text)
	}
}
