package chromium

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/parts"
)

// Program returns the path of Chromium. Under the race detector it skips the
// test: what browsers ask for is asked for by other tests as well, and would take
// them minutes here.
func Program(t testing.TB) string {
	t.Helper()
	if parts.Raced() {
		t.Skip("browsers are driven without the race detector")
	}
	return parts.Program(t, "chromium")
}

// Start starts Chromium, without a window, until the test ends. Tabs are
// contexts made of the one it returns.
func Start(t testing.TB) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(Program(t)), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return ctx
}

// patience is how long a tab is there at most: a busy machine may give a browser
// nothing to do its work with for a long time.
const patience = 3 * time.Minute

// Tab opens a tab until the test ends, and fails the test for what its pages
// complain of on the console. Its parent is what Start returned, or another tab,
// whose cookies it has then.
func Tab(t testing.TB, parent context.Context, options ...chromedp.ContextOption) context.Context {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(parent, options...)
	ctx, cancel := context.WithTimeout(ctx, patience)
	messages := chromedp.Console(ctx)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done; closeTab() })
	go func() { // until the tab is closed
		defer close(done)
		for m, err := range messages {
			if err == nil && m.Source != "network" && !dropsAnimation(m.String()) { // a load that failed is what tests are about
				t.Errorf("the browser complains: %s", m)
			}
		}
	}()
	return ctx
}

// dropsAnimation reports whether a complaint is the browser's own about leaving
// out the transition between two pages, which it does when it is short of time.
func dropsAnimation(complaint string) bool {
	return strings.Contains(complaint, "Transition was aborted") || strings.Contains(complaint, "Transition was skipped")
}
