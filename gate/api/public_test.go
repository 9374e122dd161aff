package api

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate/token"
)

func keysOf(m map[string]any) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// TestQueueAPI goes the way of a visitor, row by row of the specification.
func TestQueueAPI(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	first, second := r.join(), r.join()
	if got := keysOf(first.json); got != "poll_after_sec queue_token resume_secret ticket" {
		t.Errorf("join answers with %s", got)
	}
	st := r.ask(200, "GET", "/api/v1/queue/status", second.text("queue_token"), "")
	if st.json["position"] != 1.0 || st.json["ahead"] != 0.0 || st.json["ticket"] != 2.0 || st.json["admitted"] != false ||
		st.json["eta_sec"] != 0.0 || st.json["poll_after_sec"] != 10.0 || st.json["room_status"] != "open" || st.text("queue_token") == "" {
		t.Errorf("status: %s", st.Body)
	}
	if p := r.ask(409, "POST", "/api/v1/queue/token", st.text("queue_token"), ""); p.text("code") != "not_admitted" || p.Header().Get("Retry-After") == "" {
		t.Errorf("token too early: %s", p.Body)
	}
	// Somebody shares the token: both are told, and the owner comes back.
	if p := r.ask(401, "GET", "/api/v1/queue/status", second.text("queue_token"), ""); p.text("code") != "token_burnt" {
		t.Errorf("shared token: %s", p.Body)
	}
	r.ask(401, "GET", "/api/v1/queue/status", st.text("queue_token"), "")
	back := r.ask(200, "POST", "/api/v1/queue/resume", "", fmt.Sprintf(`{"room":"demo","resume_secret":%q}`, second.text("resume_secret")))
	if got := keysOf(back.json); got != "poll_after_sec queue_token ticket" || back.json["ticket"] != 2.0 {
		t.Errorf("resume answers with %s", back.Body)
	}
	r.now = r.now.Add(10 * time.Second)
	st = r.ask(200, "GET", "/api/v1/queue/status", back.text("queue_token"), "")
	if st.json["admitted"] != true || st.json["position"] != 0.0 {
		t.Errorf("status when it is time: %s", st.Body)
	}
	got := r.ask(200, "POST", "/api/v1/queue/token", st.text("queue_token"), `{"return":"/products/42?size=M#top"}`)
	raw := got.text("access_token")
	if got.text("redirect_url") != "https://shop.example/products/42?size=M&token="+raw+"#top" || got.json["expires_in"] != 900.0 || got.text("audience") != "shop" || got.text("token_type") != "Bearer" {
		t.Errorf("token: %s", got.Body)
	}
	if a, err := token.VerifyAccess(r.public.Ring.Keys(r.now), raw, "shop", r.now); err != nil || a.Room != "demo" || a.Ticket != 2 {
		t.Errorf("offline: %+v, %v", a, err)
	}
	if again := r.ask(200, "POST", "/api/v1/queue/token", st.text("queue_token"), "").text("access_token"); again != raw {
		t.Error("the same ticket has two access tokens")
	}
}

func TestValidate(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	raw := r.access()
	check := func(want int, body string) reply {
		t.Helper()
		return r.ask(want, "POST", "/api/v1/validate", "", body)
	}
	if p := check(200, fmt.Sprintf(`{"token":%q,"audience":"shop"}`, raw)); p.json["valid"] != true || p.text("room") != "demo" || p.json["ticket"] != 1.0 {
		t.Errorf("%s", p.Body)
	}
	check(200, fmt.Sprintf(`{"token":%q}`, raw))
	if p := check(401, fmt.Sprintf(`{"token":%q,"audience":"bank"}`, raw)); p.json["valid"] != false || p.text("code") != "token_invalid" {
		t.Errorf("%s", p.Body)
	}
	once := fmt.Sprintf(`{"token":%q,"one_time":true}`, raw)
	check(200, once)
	if p := check(401, once); p.text("code") != "token_used" || p.json["valid"] != false {
		t.Errorf("replayed: %s", p.Body)
	}
	check(200, fmt.Sprintf(`{"token":%q}`, raw)) // who looks only is not told of it
	check(401, `{"token":"x.y.z"}`)
	check(401, ``)
	check(401, fmt.Sprintf(`{"token":%q}`, r.join().text("queue_token")))
	r.now = r.now.Add(time.Hour)
	check(401, fmt.Sprintf(`{"token":%q}`, raw))
	r.now = r.now.Add(-time.Hour)
	r.admin(204, "DELETE", "/rooms/demo", "")
	check(404, fmt.Sprintf(`{"token":%q}`, raw))
}

// TestQueueTokensAreGuarded tries what is no queue token of this room.
func TestQueueTokensAreGuarded(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	stranger := newRig(t, Limits{})
	stranger.demo()
	for name, bearer := range map[string]string{
		"none": "", "garbage": "abc", "an access token": r.access(), "of another waiting room": stranger.join().text("queue_token"),
		"the resume secret": r.join().text("resume_secret"),
	} {
		for _, path := range []string{"GET /api/v1/queue/status", "POST /api/v1/queue/token"} {
			method, path, _ := strings.Cut(path, " ")
			p := r.send(r.public, method, path, bearer, "")
			if p.Code != 401 || p.Header().Get("WWW-Authenticate") == "" || p.text("error") == "" {
				t.Errorf("%s: %s %s: %d %s", name, method, path, p.Code, p.Body)
			}
		}
	}
	r.ask(401, "POST", "/api/v1/queue/resume", "", fmt.Sprintf(`{"resume_secret":%q}`, stranger.join().text("resume_secret")))
	own := r.join()
	r.ask(400, "POST", "/api/v1/queue/resume", "", fmt.Sprintf(`{"room":"other","resume_secret":%q}`, own.text("resume_secret")))
	r.now = r.now.Add(2 * time.Hour)
	if p := r.ask(410, "POST", "/api/v1/queue/resume", "", fmt.Sprintf(`{"resume_secret":%q}`, own.text("resume_secret"))); p.text("code") != "ticket_gone" {
		t.Errorf("too late: %s", p.Body)
	}
	r.admin(200, "POST", "/rooms/demo/actions", `{"action":"reset"}`)
	r.ask(410, "POST", "/api/v1/queue/resume", "", fmt.Sprintf(`{"resume_secret":%q}`, own.text("resume_secret")))
}

// TestReturnStaysOnTheSite tries to have a visitor sent elsewhere with a token.
func TestReturnStaysOnTheSite(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	live, err := r.public.Store.Room(t.Context(), r.now, "demo")
	if err != nil {
		t.Fatal(err)
	}
	target, err := live.Target()
	if err != nil {
		t.Fatal(err)
	}
	f := func(wanted, want string) {
		t.Helper()
		if got := returnURL(target, wanted, "T"); got != want {
			t.Errorf("%q leads to %s, want %s", wanted, got, want)
		}
	}
	const start = "https://shop.example/start?a=1&token=T"
	f("", start)
	f("/", "https://shop.example/?token=T")
	f("/a%2Fb;c?x=%20&y", "https://shop.example/a%2Fb;c?x=%20&y&token=T")
	f("/a?token=old&b=2&token", "https://shop.example/a?b=2&token=T")
	f("/a#frag", "https://shop.example/a?token=T#frag")
	f("https://shop.example/a", "https://shop.example/a?token=T")
	f("https://SHOP.example/a", "https://shop.example/a?token=T")
	for _, foreign := range []string{
		"//evil.example/", "///evil.example/", "/\\evil.example", "\\\\evil.example", "https://evil.example/", "http://shop.example/",
		"https://shop.example@evil.example/", "https://shop.example.evil.example/", "https:evil.example", "javascript:alert(1)", "data:text/html,x",
		"/\t/evil.example", "\n//evil.example", "https://shop.example:8443/", "https://user@shop.example/", "relative", "?query", "https:///evil.example",
		"https://shop.example//evil.example/", "/\x00", "/" + strings.Repeat("a", maxReturn),
	} {
		f(foreign, start)
	}
}

// FuzzReturn: wherever a browser is sent, it is the site.
func FuzzReturn(f *testing.F) {
	for _, s := range []string{"/a?b#c", "//x", "/\\x", "https://shop.example/", "https://shop.example@x/", "/%2f/x"} {
		f.Add(s)
	}
	target, err := url.Parse("https://shop.example/start")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, wanted string) {
		got := returnURL(target, wanted, "T")
		u, err := url.Parse(got)
		if err != nil || !strings.HasPrefix(got, "https://shop.example/") || strings.HasPrefix(got, "https://shop.example//") ||
			u.Host != "shop.example" || u.User != nil || u.Query()["token"] == nil || strings.ContainsAny(got, "\\\r\n\t") {
			t.Errorf("%q leads to %q: %v", wanted, got, err)
		}
	})
}

func TestKeys(t *testing.T) {
	r := newRig(t, Limits{})
	p := r.ask(200, "GET", "/.well-known/jwks.json", "", "")
	if keys, _ := p.json["keys"].([]any); len(keys) != 1 || !strings.Contains(p.Header().Get("Cache-Control"), "max-age") || strings.Contains(p.Body.String(), `"d"`) {
		t.Errorf("%s %v", p.Body, p.Header())
	}
}

func TestBadRequests(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	r.ask(404, "POST", "/api/v1/queue/join", "", `{"room":"nowhere"}`)
	r.ask(400, "POST", "/api/v1/queue/join", "", ``)
	r.ask(400, "POST", "/api/v1/queue/join", "", `{"room":`)
	r.ask(400, "POST", "/api/v1/queue/join", "", `{"room":1}`)
	r.ask(400, "POST", "/api/v1/queue/join", "", `{"room":"demo"}{}`)
	r.ask(413, "POST", "/api/v1/queue/join", "", `{"room":"`+strings.Repeat("x", MaxBody)+`"}`)
	r.ask(200, "POST", "/api/v1/queue/join?room=demo", "", ``)
	if p := r.ask(405, "GET", "/api/v1/queue/join", "", ""); p.Header().Get("Allow") != "POST" || p.text("code") != "method_not_allowed" {
		t.Errorf("%v %s", p.Header(), p.Body)
	}
	r.ask(404, "GET", "/api/v1/admin/rooms", adminToken, "") // not for visitors
	r.ask(404, "GET", "/nothing", "", "")
	r.admin(200, "PATCH", "/rooms/demo", `{"enabled":false}`)
	if p := r.ask(503, "POST", "/api/v1/queue/join", "", `{"room":"demo"}`); p.text("code") != "room_closed" || p.Header().Get("Retry-After") == "" {
		t.Errorf("%s", p.Body)
	}
}

func TestBannedClients(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	until, banned := r.now.Add(90*time.Second), true
	r.public.Banned = func(a netip.Addr, now time.Time) (time.Time, bool) {
		return until, banned && a == netip.MustParseAddr("192.0.2.1") && now.Equal(r.now)
	}
	if p := r.ask(429, "POST", "/api/v1/queue/join", "", `{"room":"demo"}`); p.Header().Get("Retry-After") != "90" || p.text("code") != "banned" {
		t.Errorf("%v %s", p.Header(), p.Body)
	}
	until = time.Time{}
	if p := r.ask(403, "GET", "/?room=demo", "", ""); p.Header().Get("Retry-After") != "" || p.text("code") != "blocked" {
		t.Errorf("%v %s", p.Header(), p.Body)
	}
	banned = false
	r.join()
}

func TestLimits(t *testing.T) {
	r := newRig(t, Limits{Joins: 3, Requests: 2})
	r.demo()
	for range 3 {
		r.join()
	}
	if p := r.ask(429, "POST", "/api/v1/queue/join", "", `{"room":"demo"}`); p.Header().Get("Retry-After") != "20" || p.text("code") != "too_many" {
		t.Errorf("%s %v", p.Body, p.Header())
	}
	r.now = r.now.Add(20 * time.Second)
	tok := r.join().text("queue_token")
	tok = r.ask(200, "GET", "/api/v1/queue/status", tok, "").text("queue_token")
	tok = r.ask(200, "GET", "/api/v1/queue/status", tok, "").text("queue_token")
	r.ask(429, "GET", "/api/v1/queue/status", tok, "")
	r.now = r.now.Add(time.Second)
	r.ask(200, "GET", "/api/v1/queue/status", tok, "") // what was refused burnt nothing
	l := newLimiter(1, time.Second)
	for i := range maxTracked + 10 {
		l.allow(r.public.Resolver.Resolve(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255), nil).Key, r.now.Add(time.Duration(i)*time.Millisecond))
	}
	if len(l.known) > maxTracked {
		t.Errorf("%d addresses remembered", len(l.known))
	}
}
