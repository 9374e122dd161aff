package blackbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// keep gives the visitor a cookie.
func (v *visitor) keep(name, value string) {
	v.t.Helper()
	u, err := url.Parse(v.base)
	if err != nil {
		v.t.Fatal(err)
	}
	v.client.Jar.SetCookies(u, []*http.Cookie{{Name: name, Value: value, Path: "/"}})
}

// promoted is the answer of POST /_room/promote.
type promoted struct {
	Position  int    `json:"position"`
	Repeated  bool   `json:"repeated"`
	PassUntil string `json:"pass_until"`
}

func promote(t *testing.T, p *launch.Process, ref, payment string, want int) (d promoted) {
	t.Helper()
	text := admin(t, p, http.MethodPost, "/_room/promote", fmt.Sprintf(`{"ref":%q,"payment":%q}`, ref, payment), want)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// ref is the reference that the visitor's waiting page passes on.
func (v *visitor) ref() string {
	v.t.Helper()
	_, rest, ok := strings.Cut(v.page("/").body, "/pay?ref=")
	if !ok {
		v.t.Fatal("the waiting page has no reference")
	}
	return rest[:strings.IndexAny(rest, `"&<'`)]
}

// TestCopiedPass is worth nothing to others, and is counted; its owner goes to
// the front again and again, from wherever they are.
func TestCopiedPass(t *testing.T) {
	t.Parallel()
	o := newOriginWith(t, okPage)
	p := start(t, o.Addr(), "-cap", "1", "-rate", "1", "-skip-url", "/pay", "-pass", "1h", quick)
	o.fill(t, p, 1)
	line := crowd(t, p, 3)
	owner := line[2]
	promote(t, p, owner.ref(), "pay_1", 200)
	owner.status()
	pass := owner.cookie("room_pass")
	o.letGo()
	if a := owner.comeIn("/"); !a.isOrigin() {
		t.Fatalf("who paid is not let in: status %d", a.status)
	}
	if bound := owner.cookie("room_pass"); bound == pass || bound == "" {
		t.Error("the pass is not bound to the admission pass with the first page")
	}
	idle(t, p)
	admin(t, p, http.MethodPatch, "/_room/settings", `{"room":"paused"}`, 200)
	for i := range 4 {
		thief := newVisitor(t, p).at("203.0.113." + itoa(100+i))
		thief.keep("room_pass", owner.cookie("room_pass"))
		if got := thief.page("/").position(t); got != 3+i {
			t.Errorf("with a copy of the pass: place %d, want %d", got, 3+i)
		}
	}
	owner.at("198.51.100.7") // another network
	if got := owner.page("/").position(t); got != 1 {
		t.Errorf("the owner has place %d, want 1", got)
	}
	twin := newVisitor(t, p).at("198.51.100.8") // with all cookies but the ticket
	twin.keep("room_pass", owner.cookie("room_pass"))
	twin.keep("concert_admit", owner.cookie("concert_admit"))
	if got := twin.page("/").position(t); got != 8 {
		t.Errorf("a second place with the pass is %d, want the last, 8", got)
	}
	if _, body := call(t, http.MethodGet, p.URL+"/_room/metrics", "", ""); !strings.Contains(body, "\nconcert_skip_pass_shared_total 5\n") {
		t.Error("five pages with a shared pass are not counted")
	}
}
