package blackbox

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestBrowserThroughACrash: Concert is killed and started again while a browser
// waits. Its page keeps the place, and gets in by itself, behind the visitor
// ahead.
func TestBrowserThroughACrash(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	o, dir := newOrigin(t), dataDir(t)
	args := []string{"-cap", "1", "-listen", parts.Address(t)}
	p := startIn(t, dir, o.Addr(), append(args, quick)...)
	rawtest.Until(t, "the first snapshot is saved", func() bool { return read(t, dir, "queue.journal") != "" })
	o.fill(t, p, 1)
	ahead := newVisitor(t, p).at("203.0.113.5")
	ahead.page("/ahead")
	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/browser"), chromedp.WaitVisible("#position")); err != nil {
		t.Fatal(err)
	}
	position, err := chromedp.Run(ctx, chromedp.Text("#position"))
	if err != nil || strings.TrimSpace(position) != "2" {
		t.Fatalf("the waiting page shows place %q, %v; want 2", position, err)
	}
	ahead.status() // keeps asking, as its page would
	rawtest.Until(t, "both places are on disk", func() bool {
		return strings.Count(read(t, dir, "queue.journal"), `"put"`)+strings.Count(read(t, dir, "queue.snapshot"), `"number"`) >= 2
	})
	p.Kill()
	o.openAll()
	seen := len(o.Requests())
	startIn(t, dir, o.Addr(), args...)
	ahead.client.CloseIdleConnections()
	ahead.comeIn("/ahead")
	rawtest.Until(t, "the browser is let in", func() bool {
		return strings.Contains(strings.Join(o.lines()[seen:], "\n"), "GET /browser ")
	})
	if first := o.lines()[seen]; !strings.Contains(first, "/ahead") {
		t.Errorf("let in first is %q", first)
	}
}
