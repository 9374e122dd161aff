package blackbox

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// trusting has the browser accept the site's certificate: its authority was
// made for the test a moment ago.
func trusting(t *testing.T, s *secure) chromedp.ExecAllocatorOption {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(s.cert, s.key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	key := sha256.Sum256(leaf.RawSubjectPublicKeyInfo)
	return chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(key[:]))
}

// spoken is the protocol by which the page came, as the browser names it.
const spoken = `performance.getEntriesByType("navigation")[0].nextHopProtocol`

// echoed sends a message over a WebSocket and waits for it to come back.
const echoed = `new Promise((resolve, reject) => {
	const socket = new WebSocket("wss://" + location.host + "/ws");
	socket.onopen = () => socket.send("hello");
	socket.onmessage = (e) => resolve(e.data);
	socket.onerror = () => reject(new Error("no socket"));
})`

// TestBrowserOverHTTP2: a real browser loads the page over HTTP/2, and has its
// WebSocket over HTTP/1.1 by itself.
func TestBrowserOverHTTP2(t *testing.T) {
	t.Parallel()
	origin := newStreamer(t)
	p := startSecure(t, strings.TrimPrefix(origin.URL, "http://"), "-cap", "5", "-stream-paths", "/ws")
	ctx := browser(t, trusting(t, p), chromedp.Flag("disable-quic", true))
	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/")); err != nil {
		t.Fatal(err)
	}
	if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](spoken)); err != nil || got != "h2" {
		t.Errorf("the page came by %q, %v; want h2", got, err)
	}
	if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](echoed, chromedp.EvalAwaitPromise)); err != nil || got != "hello" {
		t.Errorf("the socket echoed %q, %v", got, err)
	}
}

// TestBrowserOverHTTP3: a real browser loads the page over QUIC.
func TestBrowserOverHTTP3(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := startSecure(t, o.Addr(), "-cap", "5", "-http3")
	ctx := browser(t, trusting(t, p), chromedp.Flag("enable-quic", true), chromedp.Flag("origin-to-force-quic-on", p.Addr))
	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/shop")); err != nil {
		t.Fatal(err)
	}
	if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](spoken)); err != nil || got != "h3" {
		t.Errorf("the page came by %q, %v; want h3", got, err)
	}
	if body, err := chromedp.Run(ctx, chromedp.Text("body")); err != nil || !strings.Contains(body, "GET /shop") {
		t.Errorf("the page shows %q, %v", body, err)
	}
}
