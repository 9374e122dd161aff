package blackbox

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/parts/chromium"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// browserPatience is how long the browser may take to start and to get in, on
// a machine that is busy with other tests.
const browserPatience = 5 * time.Minute

// browser starts a headless Chromium that talks to nobody but the test.
func browser(t *testing.T, extra ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium.Program(t)),
		chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE 127.0.0.2"),
		chromedp.UserDataDir(t.TempDir()),
	)
	allocator, cancel := chromedp.NewExecAllocator(within(t, browserPatience), append(options, extra...)...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts it
		t.Fatalf("start the browser: %v", err)
	}
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits until it has let go of its folder
	return ctx
}

// holdingSite is an origin that serves what it is told to, save that /hold is not
// answered before letGo is called. It returns its host:port.
func holdingSite(t *testing.T, serve http.HandlerFunc) (address string, letGo func()) {
	t.Helper()
	hold := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(hold) })
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-hold
			return
		}
		serve(w, r)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(letGo) // before that: Close waits for the page that is held
	return strings.TrimPrefix(srv.URL, "http://"), letGo
}

// fillRoom has a visitor of a holdingSite take the one place that there is.
func fillRoom(t *testing.T, p *launch.Process) {
	t.Helper()
	holder := rawtest.Dial(t, p.Addr)
	holder.Send("GET /hold HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
	rawtest.Until(t, "the room is full", func() bool { return stats(t, p).Occupancy == 1 })
}

// TestBrowser opens a page of a full room in a real browser, sees its place,
// and is let in without touching anything; stylesheet and script come along.
func TestBrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	site, letGo := holdingSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/css/site.css":
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, "h1 { color: rgb(1, 2, 3) }")
		case "/js/site.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `document.querySelector("h1").id = "scripted"`)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><title>site</title><link rel="stylesheet" href="/css/site.css"><h1>%s</h1><p>%s</p><script src="/js/site.js"></script>`, originMark, r.URL)
		}
	})
	p := start(t, site, "-cap", "1", quick, "-assets", "/css/*,/js/*")
	fillRoom(t, p)

	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/shop?x=1"), chromedp.WaitVisible("#position")); err != nil {
		t.Fatal(err)
	}
	position, err := chromedp.Run(ctx, chromedp.Text("#position"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(position) != "1" {
		t.Errorf("the waiting page shows place %q, want 1", position)
	}
	letGo() // the browser polls, and reloads by itself
	if err := chromedp.Do(ctx, chromedp.WaitVisible("#scripted")); err != nil {
		t.Fatal(err)
	}
	text, err := chromedp.Run(ctx, chromedp.Text("body"))
	if err != nil {
		t.Fatal(err)
	}
	color, err := chromedp.Run(ctx, chromedp.Evaluate[string](`getComputedStyle(document.querySelector("h1")).color`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, originMark) || !strings.Contains(text, "/shop?x=1") || color != "rgb(1, 2, 3)" {
		t.Errorf("let in, the browser shows %q, heading in %s", text, color)
	}
	if s := stats(t, p); s.AssetServed < 2 || s.QueueDepth != 0 {
		t.Errorf("%d assets served, %d places left in line; want 2 and 0", s.AssetServed, s.QueueDepth)
	}
}
