package blackbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

const (
	operatorPass = "operator-password-0123"
	viewerPass   = "viewer-password-01234567"
)

// startPortal runs a Concert with a portal until the test ends, and returns
// where the portal is. Its address is another than the site's, since a hand-over
// knows sockets by the address that was asked for.
func startPortal(t *testing.T, dir, origin string, args ...string) (p *launch.Process, portal string) {
	t.Helper()
	p = launched(t, launch.Options{
		Args: append([]string{"-upstream", "http://" + origin, "-data-dir", dir, "-portal-listen", "127.0.0.2:0"}, args...),
		Env: []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret,
			"CONCERT_PORTAL_PASS=" + operatorPass, "CONCERT_PORTAL_VIEWER_PASS=" + viewerPass},
	})
	return p, portalOf(t, p)
}

// portalOf is where a Concert says that its portal is.
func portalOf(t *testing.T, p *launch.Process) string {
	t.Helper()
	var found []string
	rawtest.Until(t, "the log says where the portal is", func() bool {
		found = portalLine.FindStringSubmatch(p.Stderr())
		return found != nil
	})
	return "http://" + found[1]
}

var portalLine = regexp.MustCompile(`msg="operator portal" address=(\S+)`)

// desk is an operator's browser.
type desk struct {
	*visitor
	csrf string
}

// signIn opens the portal with a password.
func signIn(t *testing.T, p *launch.Process, portal, pass string) *desk {
	t.Helper()
	d := &desk{visitor: newVisitor(t, p)}
	d.base = portal
	if a := d.page("/"); a.status != 200 || !strings.Contains(a.body, `name="pass"`) {
		t.Fatalf("no form to sign in: %d %s", a.status, a.body)
	}
	if a := d.do(http.MethodPost, "/login", "text/html", url.Values{"pass": {pass}}.Encode()); a.status != 303 || a.header.Get("Location") != "/" {
		t.Fatalf("sign-in: %d %s", a.status, a.body)
	}
	found := regexp.MustCompile(`name="csrf-token" content="([0-9a-f]{32})"`).FindStringSubmatch(d.page("/").body)
	if found == nil {
		t.Fatal("the overview holds no token")
	}
	d.csrf = found[1]
	return d
}

// want sends a request with the session's token and checks the answer.
func (d *desk) want(status int, method, path, body string, parts ...string) string {
	d.t.Helper()
	d.header.Set("X-Csrf-Token", d.csrf)
	a := d.do(method, path, "application/json", body)
	if a.status != status {
		d.t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, a.status, a.body, status)
	}
	for _, part := range parts {
		if !strings.Contains(a.body, part) {
			d.t.Errorf("%s %s: %s lacks %s", method, path, a.body, part)
		}
	}
	return a.body
}

// occupants are the ids in line.
func (d *desk) occupants() (ids []string) {
	d.t.Helper()
	var q struct{ Occupants []struct{ ID string } }
	if err := json.Unmarshal([]byte(d.want(200, "GET", "/api/queue", "")), &q); err != nil {
		d.t.Fatal(err)
	}
	for _, o := range q.Occupants {
		ids = append(ids, o.ID)
	}
	return ids
}
