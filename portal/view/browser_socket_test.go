package view

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/parts/chromium"
)

// tab is a tab of the browser with a stand of its own.
type tab struct {
	*stand
	t   *testing.T
	ctx context.Context
}

func openTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	b := &tab{stand: newStand(t), t: t}
	b.ctx = chromium.Tab(t, browser, chromedp.WithNewBrowserContext())
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// open loads a page and waits for its scripts.
func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.URL + path))
	if path != "/sign-in" && path != "/wrong" {
		b.until(`"ready" in document.documentElement.dataset`)
	}
}

// until waits for a condition in JavaScript.
func (b *tab) until(condition string) {
	b.t.Helper()
	chromium.Until(b.t, b.ctx, condition)
}

// script runs code.
func (b *tab) script(code string) {
	b.t.Helper()
	b.until(`(() => { ` + code + `; return true; })()`)
}

// prefers sets what the person prefers, as names and values of media features.
func (b *tab) prefers(pairs ...string) {
	b.t.Helper()
	var features []*emulation.MediaFeature
	for i := 0; i < len(pairs); i += 2 {
		features = append(features, &emulation.MediaFeature{Name: pairs[i], Value: pairs[i+1]})
	}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		b.t.Fatal(err)
	}
}

// TestAccessible looks at every page, in light and dark, wide and narrow, with
// what can be open open: the checks are those of the waiting page.
func TestAccessible(t *testing.T) {
	t.Parallel()
	check, err := os.ReadFile("../../stages/queue/testdata/accessible.js")
	if err != nil {
		t.Fatal(err)
	}
	browser := chromium.Start(t)
	states := []struct{ name, path, reach string }{
		{"overview", "/", `document.querySelector(".as-table").open = true`},
		{"menu", "/", `document.querySelector(".menu").open = true`},
		{"pausing", "/", `document.querySelector("[data-act=pause]").click()`},
		{"queue", "/queue", ``},
		{"found", "/queue?find=203.0.0.8", ``},
		{"bans", "/bans", ``},
		{"banning", "/bans", `document.querySelector("[data-act=newban]").click()`},
		{"visitors", "/visitors?open=203.0.113.1", ``},
		{"ban log", "/banlog?open=12", ``},
		{"settings", "/settings", `const f = document.getElementById("f-max_queue"); f.value = "many"; f.dispatchEvent(new Event("input", {bubbles: true})); document.getElementById("review").click()`},
		{"access", "/access", ``},
		{"sign in", "/wrong", ``},
	}
	for _, v := range []struct {
		name, scheme string
		width        int64
		viewer       bool
	}{{"desktop, light", "light", 1280, false}, {"desktop, dark, viewer", "dark", 1280, true}, {"phone, dark", "dark", 360, false}} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel() // the browser does the work
			b := openTab(t, browser)
			b.change(func() { b.frame.Viewer, b.frame.Alerts = v.viewer, []string{"bans.json cannot be saved: disk full."} })
			b.prefers("prefers-color-scheme", v.scheme, "prefers-reduced-motion", "reduce")
			b.do(chromedp.EmulateViewport(v.width, 800))
			for _, s := range states {
				if s.path == "/access" {
					b.script(`document.getElementById("discard").click()`) // or the browser asks whether to leave
				}
				b.open(s.path)
				b.script(s.reach)
				if strings.Contains(s.name, "ing") && !v.viewer || s.name == "found" {
					b.until(`document.querySelector("dialog[open]") !== null`)
				}
				problems, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](string(check)))
				if err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if problems != "" {
					t.Errorf("%s:\n%s", s.name, problems)
				}
			}
		})
	}
}

// TestPortalInABrowser goes through what the scripts do with a line that stands
// still or moves as the test wants.
func TestPortalInABrowser(t *testing.T) {
	t.Parallel()
	browser := chromium.Start(t)
	for _, tt := range []struct {
		name string
		play func(b *tab)
	}{
		{"rows say where they come from and go", rowsMove},
		{"a pointer holds the table", pointerHolds},
		{"the live switch holds the table", switchHolds},
		{"the keyboard keeps its place", keyboardKeeps},
		{"the connection is lost and comes back", connectionLost},
		{"rows open and close", rowsOpen},
		{"badges are copied", badgesAreCopied},
		{"charts by keyboard", chartsByKeyboard},
		{"charts without color", chartsWithoutColor},
		{"charts of a quiet room", chartsOfAQuietRoom},
		{"markup stays text", markupStaysText},
		{"a viewer changes nothing", viewerChangesNothing},
		{"less motion", lessMotion},
		{"without scripts", withoutScripts},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			tt.play(openTab(t, browser))
		})
	}
}
