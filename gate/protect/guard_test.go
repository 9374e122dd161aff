package protect

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

const roomPage = "https://wait.example/?return=%2Fproducts%2F42%3Fa%3D1&room=demo"

// TestWalk is the way of a visitor, as the specification draws it.
func TestWalk(t *testing.T) {
	r := newRig(t, nil)
	r.want(r.ask("GET", "/products/42?a=1"), 302, roomPage)
	in := r.ask("GET", "/products/42?a=1&token="+r.access("demo"))
	r.want(in, 303, "/products/42?a=1")
	c := in.Cookies()
	if len(c) != 1 || !c[0].HttpOnly || !c[0].Secure || c[0].SameSite != http.SameSiteLaxMode || c[0].Path != "/" || !c[0].Expires.Equal(r.now.Add(15*time.Minute)) ||
		in.Header.Get("Referrer-Policy") != "no-referrer" || in.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", in.Header)
	}
	r.wantSite(r.ask("GET", "/products/42?a=1", "Cookie", session(in)), "/products/42?a=1 ticket 1 true")
	r.wantSite(r.ask("POST", "/buy", "Cookie", session(in)), "/buy ticket 1 true")
	r.now = r.now.Add(15 * time.Minute)
	r.want(r.ask("GET", "/products/42?a=1", "Cookie", session(in)), 302, roomPage)
}

func TestTokensThatAreNoGood(t *testing.T) {
	r := newRig(t, nil)
	good := r.access("demo")
	stranger := newRig(t, nil)
	r.want(r.ask("GET", "/?token="+stranger.access("demo")), 302, "https://wait.example/?return=%2F&room=demo")
	r.want(r.ask("GET", "/?token="+r.access("other")), 302, "https://wait.example/?return=%2F&room=demo")
	r.want(r.ask("GET", "/?token="+good[:len(good)-4]+"AAAA"), 302, "https://wait.example/?return=%2F&room=demo")
	none := "eyJhbGciOiJub25lIiwidHlwIjoiY29uY2VydC1hY2Nlc3Mrand0In0." + strings.Split(good, ".")[1] + "."
	r.want(r.ask("GET", "/?token="+none), 302, "https://wait.example/?return=%2F&room=demo")
	r.want(r.ask("GET", "/", "Authorization", "Bearer "+none), 302, "https://wait.example/?return=%2F&room=demo")
	r.want(r.ask("GET", "/", "Cookie", cookieName+"="+good), 302, "https://wait.example/?return=%2F&room=demo")
	r.want(r.ask("GET", "/", "Cookie", session(stranger.ask("GET", "/?token="+stranger.access("demo")))), 302, "https://wait.example/?return=%2F&room=demo")
	r.now = r.now.Add(16 * time.Minute)
	r.want(r.ask("GET", "/?token="+good), 302, "https://wait.example/?return=%2F&room=demo")
}

func TestProgramsSendTheToken(t *testing.T) {
	r := newRig(t, nil)
	r.wantSite(r.ask("POST", "/api", "Authorization", "Bearer "+r.access("demo")), "/api ticket 1 true")
}

// TestTakenOnce: with ValidateURL what somebody saw in an address is worth
// nothing.
func TestTakenOnce(t *testing.T) {
	r := newRig(t, func(o *Options) { o.ValidateURL = "https://wait.example/api/v1/validate" })
	raw := r.access("demo")
	r.want(r.ask("GET", "/", "Authorization", "Bearer "+raw), 302, "https://wait.example/?return=%2F&room=demo")
	if resp := r.ask("POST", "/?token="+raw); resp.StatusCode != 403 {
		t.Errorf("a form with a token: %d", resp.StatusCode)
	}
	in := r.ask("GET", "/?token="+raw)
	r.want(in, 303, "/")
	r.want(r.ask("GET", "/?token="+raw), 302, "https://wait.example/?return=%2F&room=demo")
	r.want(r.ask("GET", "/a?token="+raw, "Cookie", session(in)), 303, "/a")
	r.down = true
	if resp := r.ask("GET", "/?token="+r.access("demo")); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("while it cannot be told: %d", resp.StatusCode)
	}
}

func TestFormsAreNotSwallowed(t *testing.T) {
	r := newRig(t, nil)
	resp := r.ask("POST", "/buy")
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 403 || !strings.Contains(string(body), "Nothing was sent") || !strings.Contains(string(body), "wait.example") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
}

// TestAddressesStayHere tries to be sent elsewhere after a token, or to have
// the waiting room do so.
func TestAddressesStayHere(t *testing.T) {
	r := newRig(t, nil)
	for path, want := range map[string]string{
		"//evil.example/x":         "/evil.example/x",
		"///evil.example":          "/evil.example",
		"/%2f/evil.example":        "/%2f/evil.example",
		"/\\evil.example":          "/%5Cevil.example",
		"/a?next=//evil.example":   "/a?next=//evil.example",
		"https://evil.example/a?b": "/a?b",
	} {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		r.want(r.ask("GET", path+sep+"token="+r.access("demo")), 303, want)
		r.want(r.ask("GET", path), 302, "https://wait.example/?"+url.Values{"return": {want}, "room": {"demo"}}.Encode())
	}
}

func TestTokenOfTheSiteItself(t *testing.T) {
	r := newRig(t, nil)
	in := r.ask("GET", "/?token="+r.access("demo"))
	r.wantSite(r.ask("GET", "/reset?token=abc", "Cookie", session(in)), "/reset?token=abc ticket 1 true")
	r.want(r.ask("GET", "/reset?token=abc"), 302, "https://wait.example/?return=%2Freset%3Ftoken%3Dabc&room=demo")
}

// TestGatingOff: without a room the site only checks what it is brought.
func TestGatingOff(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.WaitingRoomURL, o.Room, o.JWKSURL = "", "", "https://wait.example/.well-known/jwks.json"
	})
	r.wantSite(r.ask("GET", "/"), "/ ticket 0 false")
	r.want(r.ask("GET", "/a?token="+r.access("demo")), 303, "/a")
	bad := r.access("demo")
	if resp := r.ask("GET", "/a?token="+bad[:len(bad)-4]+"AAAA"); resp.StatusCode != 401 {
		t.Errorf("a bad token: %d", resp.StatusCode)
	}
}

func TestKeysAreKept(t *testing.T) {
	r := newRig(t, nil)
	r.down = true
	if resp := r.ask("GET", "/?token="+r.access("demo")); resp.StatusCode != 503 {
		t.Errorf("without keys: %d", resp.StatusCode)
	}
	r.down = false
	for range 5 {
		r.want(r.ask("GET", "/?token="+r.access("demo")), 303, "/")
	}
	if r.asked != 1 {
		t.Errorf("%d requests for keys", r.asked)
	}
	stranger := newRig(t, nil)
	for range 5 { // keys nobody knows do not make a flood of requests
		r.ask("GET", "/?token="+stranger.access("demo"))
	}
	if r.asked != 1 {
		t.Errorf("%d requests for keys at once", r.asked)
	}
	r.now = r.now.Add(lookAgain)
	r.ask("GET", "/?token="+stranger.access("demo"))
	if r.asked != 2 {
		t.Errorf("%d requests for keys in the end", r.asked)
	}
	r.now, r.down = r.now.Add(keepKeys), true
	r.want(r.ask("GET", "/?token="+r.access("demo")), 303, "/") // old keys are better than none
	r.down = false
	r.room.Ring = newRing(t, r.now) // as after a rotation
	r.now = r.now.Add(lookAgain)
	r.want(r.ask("GET", "/?token="+r.access("demo")), 303, "/")
}

func TestAuth(t *testing.T) {
	r := newRig(t, nil)
	r.site = r.guard.Auth()
	uri := func(u string, more ...string) *http.Response {
		return r.ask("GET", "/_gate", append([]string{uriHeader, u}, more...)...)
	}
	r.want(uri("/products/42?a=1"), 401, roomPage)
	in := uri("/products/42?a=1&token=" + r.access("demo"))
	r.want(in, 403, "/products/42?a=1")
	r.want(uri("/products/42", "Cookie", session(in)), 204, "")
	r.want(uri("/buy", "Cookie", session(in), methodHeader, "POST"), 204, "")
	if resp := uri("/buy", methodHeader, "POST"); resp.StatusCode != 401 {
		t.Errorf("a form without access: %d", resp.StatusCode)
	}
	if resp := r.ask("GET", "/_gate"); resp.StatusCode != 500 {
		t.Errorf("without the address: %d", resp.StatusCode)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(Options{WaitingRoomURL: "wait.example", ValidateURL: "ftp://x", JWKSURL: ":", SessionKey: []byte("short"), Cookie: "a b"})
	for _, name := range []string{"WaitingRoomURL", "ValidateURL", "JWKSURL", "SessionKey", "Cookie", "Audience"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("nothing about %s in %v", name, err)
		}
	}
	if _, err := New(Options{Room: "demo", JWKSURL: "http://x/"}); err != nil {
		t.Error(err)
	}
}

// ExampleGuard puts a site behind a room.
func ExampleGuard_Wrap() {
	guard, err := New(Options{WaitingRoomURL: "https://wait.example/", Room: "demo"})
	if err != nil {
		fmt.Println(err)
		return
	}
	site := guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "welcome") }))
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest("GET", "/shop", nil))
	fmt.Println(w.Code, w.Header().Get("Location"))
	// Output: 302 https://wait.example/?return=%2Fshop&room=demo
}
