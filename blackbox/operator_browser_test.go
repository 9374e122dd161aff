package blackbox

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/parts/chromium"
)

// operator is a person at the portal.
type operator struct {
	t      *testing.T
	ctx    context.Context
	p      *launch.Process
	portal string
}

func (o *operator) do(actions ...chromedp.Action[chromedp.Void]) {
	o.t.Helper()
	if err := chromedp.Do(o.ctx, actions...); err != nil {
		o.t.Fatal(err)
	}
}

// open loads a page of the portal and waits for its scripts.
func (o *operator) open(path string) {
	o.t.Helper()
	o.do(chromedp.Navigate(o.portal + path))
	o.until(`"ready" in document.documentElement.dataset`)
}

// until waits for a condition in JavaScript.
func (o *operator) until(condition string) {
	o.t.Helper()
	chromium.Until(o.t, o.ctx, condition)
}

// shows waits until an element's text has a part.
func (o *operator) shows(selector, part string) {
	o.t.Helper()
	o.until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(e => e.textContent.includes(%q))`, selector, part))
}

// ready is false until the page's scripts listen.
const ready = `if (!("ready" in document.documentElement.dataset)) return false`

// click presses what a selector finds, by script: rows may be on their way.
func (o *operator) click(selector string) {
	o.t.Helper()
	o.until(fmt.Sprintf(`(() => { const e = document.querySelector(%q); `+ready+`; e?.click(); return !!e; })()`, selector))
}

// types writes into a field.
func (o *operator) types(selector, text string) {
	o.t.Helper()
	o.until(fmt.Sprintf(`(() => { const e = document.querySelector(%q); `+ready+`; e.value = %q; return e.dispatchEvent(new Event("input", {bubbles: true})); })()`, selector, text))
}

// confirms presses the dialog's button once it can be pressed, and sees the
// dialog close.
func (o *operator) confirms(says string) {
	o.t.Helper()
	o.shows("dialog", says)
	o.until(`!document.querySelector("dialog .primary").disabled`)
	o.click("dialog .primary")
	o.until(`!document.querySelector("dialog")`)
}

// undoes presses the latest message's Undo.
func (o *operator) undoes(says, then string) {
	o.t.Helper()
	o.shows(".toast", says)
	o.until(`(() => { ` + ready + `; const b = [...document.querySelectorAll(".toast button")].findLast(b => b.textContent === "Undo"); b?.click(); return !!b; })()`)
	o.shows(".toast", then)
}

// reachingOut names what is wider than the screen, as far as it cannot be
// scrolled by itself.
const reachingOut = `document.documentElement.scrollWidth <= innerWidth && innerWidth <= 360 ? "" : innerWidth + ": " +
	[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 361 && !e.parentElement.closest(".tabs, .strip, .frame")).slice(0, 5).map(e => e.outerHTML.slice(0, 90)).join(" | ")`

// fits fails the test where a page is wider than a phone.
func (o *operator) fits(path string) {
	o.t.Helper()
	o.open(path)
	wide, err := chromedp.Run(o.ctx, chromedp.Evaluate[string](reachingOut))
	if err != nil || wide != "" {
		o.t.Errorf("%s reaches out of the screen: %s (%v)", path, wide, err)
	}
}

// shot keeps a picture of the page for whoever asks for it.
func (o *operator) shot(name string) {
	o.t.Helper()
	dir := os.Getenv("BLACKBOX_SHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(o.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		o.t.Fatal(err)
	}
	write(o.t, dir, name+".png", string(picture))
}

// enters signs in with a password, and waits for what is shown then.
func (o *operator) enters(password, shown string) {
	o.t.Helper()
	o.do(chromedp.SendKeys("#pass", password+kb.Enter), chromedp.WaitVisible(shown))
}

// onAPhone looks at pages on a small screen, and fails the test where one reaches
// out of it. What then does is done there, before the screen is large again.
func (o *operator) onAPhone(then func(), paths ...string) {
	o.t.Helper()
	o.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
	for _, path := range paths {
		o.fits(path)
	}
	then()
	o.do(chromedp.EmulateViewport(1280, 800))
}
