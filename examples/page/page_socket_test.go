package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/parts/chromium"
)

// site is a Concert with this page, before an origin. Its room is paused.
type site struct {
	url     string
	open    func()       // opens the room
	polls   atomic.Int32 // requests for /queue/status
	reloads atomic.Int32 // requests for the page
}

func start(t *testing.T) *site {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<p>Your table is ready</p>"))
	}))
	t.Cleanup(origin.Close)
	load := func(room string) *config.Config {
		loaded, err := config.Load([]string{"-upstream", origin.URL, "-room", room, "-html=waiting.html", "-message=The kitchen closes at ten."}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return loaded.Config
	}
	a, err := app.New(load("paused"), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); a.Run(ctx) }() // until the test ends
	t.Cleanup(func() { cancel(); <-done })
	s := &site{open: func() {
		if err := a.Reconfigure(ctx, load("open")); err != nil {
			t.Error(err)
		}
	}}
	concert := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/queue/status":
			s.polls.Add(1)
		case "/menu":
			s.reloads.Add(1)
		}
		a.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(concert.Close)
	s.url = concert.URL
	return s
}

func openBrowser(t *testing.T) context.Context {
	t.Helper()
	return chromium.Tab(t, chromium.Start(t))
}

func TestVisitorWaitsAndIsAdmitted(t *testing.T) {
	t.Parallel() // they mostly wait
	s, ctx := start(t), openBrowser(t)
	if err := chromedp.Do(ctx, chromedp.Navigate(s.url+"/menu")); err != nil {
		t.Fatal(err)
	}
	chromium.Until(t, ctx, `document.getElementById("position")?.textContent === "1" && document.getElementById("skip").hidden`)
	chromium.Until(t, ctx, `document.getElementById("message").textContent === "The kitchen closes at ten."`)
	s.open()
	chromium.Until(t, ctx, `document.body.innerText.includes("Your table is ready")`)
	if n := s.reloads.Load(); n != 2 {
		t.Errorf("%d loads, want the waiting page and the page behind it", n)
	}
}

func TestVisitorWithoutCookiesIsToldOnce(t *testing.T) {
	t.Parallel() // they mostly wait
	s, ctx := start(t), openBrowser(t)
	if _, err := chromedp.Call(ctx, emulation.SetDocumentCookieDisabled, emulation.SetDocumentCookieDisabledParams{Disabled: true}); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(s.url+"/menu")); err != nil {
		t.Fatal(err)
	}
	chromium.Until(t, ctx, `document.getElementById("state").textContent.startsWith("Please allow cookies")`)
	if s.polls.Load() != 0 || s.reloads.Load() != 1 {
		t.Errorf("%d polls, %d loads; want none and one", s.polls.Load(), s.reloads.Load())
	}
}

// TestPageKeepsTheContract looks for what Concert, and tools that recognise a
// waiting page, rely on.
func TestPageKeepsTheContract(t *testing.T) {
	html, err := os.ReadFile("waiting.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="position">{{.Position}}<`, "{{.SkipURL}}", "/queue/status", "room_probe", "noindex", "<noscript><meta http-equiv=\"refresh\""} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
