package blackbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// worker passes on whatever the page asks for, navigations among it.
const worker = `
addEventListener("activate", (e) => e.waitUntil(clients.claim()));
addEventListener("fetch", (e) => e.respondWith(fetch(e.request)));
`

// working resolves once the worker has the page.
const working = `new Promise((resolve) => {
	const there = () => navigator.serviceWorker.controller && resolve("there");
	navigator.serviceWorker.addEventListener("controllerchange", there);
	navigator.serviceWorker.register("/worker.js").then(there);
})`

// TestBrowserWithServiceWorker: a visitor whose pages come through the site's
// service worker sees the waiting page, and is let in from there.
func TestBrowserWithServiceWorker(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	site, letGo := holdingSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, worker)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><title>site</title><h1 id="site">%s</h1>`, r.URL)
		}
	})
	p := start(t, site, "-cap", "1", quick, "-assets", "/worker.js")
	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/"), chromedp.WaitVisible("#site")); err != nil {
		t.Fatal(err)
	}
	if got, err := chromedp.Run(ctx, chromedp.Evaluate[string](working, chromedp.EvalAwaitPromise)); err != nil || got != "there" {
		t.Fatalf("the service worker: %q, %v", got, err)
	}
	rawtest.Until(t, "the room is empty", func() bool { return stats(t, p).Occupancy == 0 })
	fillRoom(t, p)

	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/shop")); err != nil {
		t.Fatal(err)
	}
	if body, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.textContent")); err != nil || strings.Contains(body, `"queued"`) {
		t.Fatalf("the browser shows %q, %v; want the waiting page", body, err)
	}
	if err := chromedp.Do(ctx, chromedp.WaitVisible("#position")); err != nil {
		t.Fatal(err)
	}
	letGo()
	if err := chromedp.Do(ctx, chromedp.WaitVisible("#site")); err != nil {
		t.Fatal(err)
	}
	if text, err := chromedp.Run(ctx, chromedp.Text("#site")); err != nil || text != "/shop" {
		t.Errorf("let in, the browser shows %q, %v", text, err)
	}
}
