package chromium

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	// askEvery is how often a page is asked for what is waited for.
	askEvery = 50 * time.Millisecond
	// farewell is how long a page that did not come to that may take to say what
	// it shows instead, or the first of it.
	farewell = 5 * time.Second
)

// Until waits until a condition, in JavaScript, is true in a tab, which may take
// several page loads. When that does not happen while the tab is there, the test
// ends with what the page shows.
func Until(t testing.TB, tab context.Context, condition string) {
	t.Helper()
	UntilTrue(t, tab, condition, func() bool {
		ok, err := chromedp.Run(tab, chromedp.Evaluate[bool](condition))
		return err == nil && ok
	})
}

// UntilTrue is Until for what the page alone cannot tell.
func UntilTrue(t testing.TB, tab context.Context, what string, ok func() bool) {
	t.Helper()
	again := time.NewTicker(askEvery)
	defer again.Stop()
	for !ok() {
		select {
		case <-tab.Done():
			t.Fatalf("never: %s\n%s", what, shown(tab))
		case <-again.C:
		}
	}
}

// shown returns the text that a tab shows at the end of its time.
func shown(tab context.Context) string {
	last, cancel := context.WithTimeout(context.WithoutCancel(tab), farewell)
	defer cancel()
	text, _ := chromedp.Run(last, chromedp.Evaluate[string](`document.body.innerText.slice(0, 3000)`)) // there may be none any more
	return text
}
