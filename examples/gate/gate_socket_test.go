//go:build unix

package gate

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	offsite "github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/token"
)

// TestSites takes each example through the walk of the specification, and what
// is tried against it.
func TestSites(t *testing.T) {
	for name, start := range map[string]func(*testing.T, string, []string){"PHP": startPHP, "Node": startNode, "nginx": startNginx} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, true, start)
			r.walk()
			r.addresses()
			r.unreachable()
			newRig(t, false, start).forgeries()
		})
	}
}

func (r *rig) walk() {
	r.wantRoom("no token", r.ask("GET", "/products/42?size=M&a=%22", nil), "/products/42?size=M&a=%22")
	r.wantRoom("HEAD", r.ask("HEAD", "/", nil), "/")
	if a := r.ask("POST", "/buy", nil); a.status != 403 || !strings.Contains(a.body, "Nothing was sent") {
		r.Errorf("a form: %d %s", a.status, a.body)
	}
	raw := r.access()
	in := r.ask("GET", "/products/42?size=M&token="+raw+"&a=%22", nil)
	if in.status != 303 || in.location != "/products/42?size=M&a=%22" && in.location != r.url+"/products/42?size=M&a=%22" || in.cookie == nil {
		r.Fatalf("with a token: %d to %q, cookie %v", in.status, in.location, in.cookie)
	}
	if c := in.cookie; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Expires.IsZero() || strings.Contains(c.Value, raw) {
		r.Errorf("cookie %v", c)
	}
	if a := r.ask("GET", "/products/42?size=M&a=%22", in.cookie); a.status != 200 || a.body != "site /products/42?size=M&a=%22 ticket 1\n" {
		r.Errorf("with the session: %d %s", a.status, a.body)
	}
	if a := r.ask("POST", "/buy", in.cookie); a.status != 200 {
		r.Errorf("a form with the session: %d %s", a.status, a.body)
	}
	if a := r.ask("GET", "/reset?token=abc", in.cookie); a.status != 200 || !strings.Contains(a.body, "token=abc") {
		r.Errorf("a token of the site's own: %d %s", a.status, a.body)
	}
	if a := r.ask("GET", "/a?token="+raw, in.cookie); a.status != 303 {
		r.Errorf("the token again, with the session: %d", a.status)
	}
	r.wantRoom("a replayed token", r.ask("GET", "/a?token="+raw, nil), "/a")
	altered := *in.cookie
	altered.Value = "9" + altered.Value[1:]
	r.wantRoom("an altered session", r.ask("GET", "/a", &altered), "/a")
	altered.Value = raw
	r.wantRoom("a token as a session", r.ask("GET", "/a", &altered), "/a")
}

func (r *rig) forgeries() {
	good := r.access()
	head, rest, _ := strings.Cut(good, ".")
	body, _, _ := strings.Cut(rest, ".")
	stranger, err := token.NewFile(time.Now())
	if err != nil {
		r.Fatal(err)
	}
	other, err := token.NewRing(stranger)
	if err != nil {
		r.Fatal(err)
	}
	foreign, err := other.Access(grant(func(*offsite.Grant) {}), time.Now())
	if err != nil {
		r.Fatal(err)
	}
	for what, raw := range map[string]string{
		"altered":            good[:len(good)-6] + "AAAAAA",
		"no signature":       head + "." + body + ".",
		"alg none":           "eyJhbGciOiJub25lIiwidHlwIjoiY29uY2VydC1hY2Nlc3Mrand0In0." + body + ".",
		"HS256":              "eyJhbGciOiJIUzI1NiIsInR5cCI6ImNvbmNlcnQtYWNjZXNzK2p3dCJ9." + body + ".AAAA",
		"another key":        foreign,
		"another audience":   r.sign(grant(func(g *offsite.Grant) { g.Room.Audience = "bank" })),
		"another room":       r.sign(grant(func(g *offsite.Grant) { g.Room.ID = "other" })),
		"expired":            r.sign(grant(func(g *offsite.Grant) { g.At, g.Until = g.At.Add(-2*time.Hour), g.At.Add(-time.Hour) })),
		"of the future":      r.sign(grant(func(g *offsite.Grant) { g.At = g.At.Add(time.Hour) })),
		"another key's name": strings.Replace(foreign, strings.Split(foreign, ".")[0], head, 1),
	} {
		r.wantRoom(what, r.ask("GET", "/a?token="+raw, nil), "/a")
	}
}

func (r *rig) addresses() {
	a := r.ask("GET", "//evil.example/x?token="+r.access(), nil)
	u, err := url.Parse(a.location)
	if err != nil || a.status != 303 || u.Host != "" && "http://"+u.Host != r.url || strings.HasPrefix(u.Path, "//") {
		r.Errorf("two slashes lead to %d %q", a.status, a.location)
	}
}

// unreachable: a good token while the waiting room does not answer is no reason
// to lose it.
func (r *rig) unreachable() {
	raw := r.access()
	r.room.Close()
	if a := r.ask("GET", "/a?token="+raw, nil); a.status != 503 {
		r.Errorf("while the waiting room is away: %d to %q", a.status, a.location)
	}
}
