package blackbox

import (
	"strconv"
	"strings"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestAssetsNeedThePass(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-assets", "/css/*", "-asset-public", "/pub/*")
	v := newVisitor(t, p)
	if a := v.page("/css/a.css"); a.status != 403 {
		t.Errorf("asset before any page: status %d, want 403", a.status)
	}
	page := v.page("/")
	if !page.isOrigin() || !strings.Contains(page.header.Get("Set-Cookie"), "HttpOnly") {
		t.Fatalf("page: status %d, Set-Cookie %q", page.status, page.header.Get("Set-Cookie"))
	}
	asset := v.page("/css/a.css")
	if !asset.isOrigin() || asset.header.Get("Set-Cookie") != "" {
		t.Errorf("asset with a fresh pass: status %d, header %v; want 200 and no Set-Cookie", asset.status, asset.header)
	}
	stranger := newVisitor(t, p)
	if a := stranger.page("/pub/a.png"); !a.isOrigin() {
		t.Errorf("public asset without a pass: status %d", a.status)
	}
	o.fill(t, p, 1)
	if a := v.page("/css/b.css"); !a.isOrigin() {
		t.Errorf("asset of an admitted visitor in a full room: status %d", a.status)
	}
	if a := stranger.page("/css/b.css"); a.status != 403 {
		t.Errorf("asset of a stranger: status %d, want 403", a.status)
	}
	if s := stats(t, p); s.AssetServed < 3 || s.AssetDenied != 2 {
		t.Errorf("%d assets served and %d denied, want 3 and 2", s.AssetServed, s.AssetDenied)
	}
	o.sawNoCookie(t, "concert_admit")
}

// TestForgedPasses: a changed pass opens nothing, and shadows nothing.
func TestForgedPasses(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-assets", "/css/*")
	v := newVisitor(t, p)
	v.page("/")
	pass := v.cookie("concert_admit")
	ask := func(cookie string) string {
		return raw(t, p, "127.0.0.1", "GET /css/a.css HTTP/1.1", "Host: site.test", "Cookie: "+cookie).Status()
	}
	for i := range len(pass) {
		if i%7 != 0 && i != len(pass)-1 {
			continue
		}
		flipped := []byte(pass)
		if flipped[i]++; flipped[i] == '{' || flipped[i] == '[' {
			flipped[i] = 'A'
		}
		if s := ask("concert_admit=" + string(flipped)); s != "403" {
			t.Errorf("byte %d of %q changed: status %s, want 403", i, pass, s)
		}
	}
	for _, cookie := range []string{"concert_admit=old; concert_admit=" + pass, "concert_admit=" + pass + "; concert_admit=old"} {
		if s := ask(cookie); s != "200" {
			t.Errorf("with %q: status %s, want 200", cookie, s)
		}
	}
}

// TestLookAlikeCookiesBelongToTheSite: only the exact names are Concert's.
func TestLookAlikeCookiesBelongToTheSite(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	const theirs = "xroom_ticket=1; room_ticket2=2; Room_Ticket=3; concert_admit_old=4; __Host-concert_admit=5"
	raw(t, p, "127.0.0.1", "GET / HTTP/1.1", "Host: site.test", "Cookie: room_probe=1; "+theirs+"; concert_admit=x")
	if got := o.Requests()[0].Value("Cookie"); got != theirs {
		t.Errorf("the origin got %q, want %q", got, theirs)
	}
}
