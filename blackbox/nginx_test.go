package blackbox

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/parts"
)

// readmeBlock returns the README's code block of that language.
func readmeBlock(t *testing.T, language string) string {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(readme), "```"+language+"\n")
	block, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatalf("README.md has no block of %s", language)
	}
	return block
}

// replaced replaces text that must be there, so that a test of the README's
// configuration does not go on testing something else.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the README's configuration does not hold %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// startNginx runs nginx with the README's own configuration in front of
// Concert, and returns its address.
func startNginx(t *testing.T, concert string) string {
	t.Helper()
	nginx, dir, address := parts.Program(t, "nginx"), t.TempDir(), parts.Address(t)
	certificate, key := certtest.New(t).Issue(t, certtest.Names("example.com")).Write(t, dir, "nginx")
	site := replaced(t, readmeBlock(t, "nginx"),
		"listen 443 ssl", "listen "+address+" ssl",
		"/etc/letsencrypt/live/example.com/fullchain.pem", certificate,
		"/etc/letsencrypt/live/example.com/privkey.pem", key,
		"http://127.0.0.1:8080", "http://"+concert)
	runNginx(t, nginx, dir, address, site)
	return address
}

// overTLS has the visitor come to the front at address over HTTP/2.
func (v *visitor) overTLS(address string) *visitor {
	v.base = "https://" + address
	// The certificate was made for the test a moment ago.
	v.client.Transport = &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	return v
}

func TestNginxInFront(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-assets", "/css/*", "-client-proto-header", "X-Client-Proto", "-secure-cookie")
	front := startNginx(t, p.Addr)
	o.fill(t, p, 1)

	v := newVisitor(t, p).overTLS(front)
	a := v.page("/shop//a%2Fb?x=1")
	if !a.isWaitingPage() {
		t.Fatalf("status %d, body %q: want the waiting page", a.status, a.body)
	}
	checkUncached(t, a)
	if cookies := strings.Join(a.header.Values("Set-Cookie"), "\n"); !strings.Contains(cookies, "room_ticket=") || !strings.Contains(cookies, "Secure") {
		t.Errorf("Set-Cookie %q: want a ticket marked Secure", cookies)
	}
	o.openAll()
	if a = v.comeIn("/shop//a%2Fb?x=1"); !strings.Contains(a.body, "GET /shop//a%2Fb?x=1 HTTP/1.1") {
		t.Errorf("admitted: body %q", a.body)
	}
	rs := o.Requests()
	last := rs[len(rs)-1]
	for name, want := range map[string]string{
		"X-Forwarded-For": "127.0.0.1, 127.0.0.1", "X-Forwarded-Proto": "https", "Host": "127.0.0.1",
	} {
		if got := last.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("the origin got %s %q, want %q", name, got, want)
		}
	}
	if a = v.page("/css/a.css"); !a.isOrigin() {
		t.Errorf("asset with the pass: status %d", a.status)
	}
}

func TestWebSocketThroughNginx(t *testing.T) {
	_, p := startStreaming(t)
	v := newVisitor(t, p).overTLS(startNginx(t, p.Addr))
	v.page("/")
	v.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // HTTP/1.1
	v.checkEcho("/ws")
}
