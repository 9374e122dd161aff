package blackbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// saves presses the form's button and waits for the page that follows.
func (o *operator) saves(says string) {
	o.t.Helper()
	o.click("#room-form button.primary")
	o.shows(".toast", says)
}

// TestGatePortalInABrowser: concert gate has a portal on its operators' socket,
// which does all that the API does.
func TestGatePortalInABrowser(t *testing.T) {
	ctx := browser(t)
	g := startGate(t, "gate", "-gate-admin-listen", "127.0.0.1:0", "-data-dir", dataDir(t))
	o := &operator{t: t, ctx: ctx, p: g.Process, portal: g.operators}
	o.do(chromedp.Navigate(o.portal))
	o.enters(adminToken, "#rooms-live")
	o.shows("#rooms-live", "There are no rooms yet")

	o.open("/rooms/new?kind=gate")
	o.types("#r-id", "Not An Id")
	o.types("#r-inflow", "many")
	o.click("#room-form button.primary")
	o.shows("#room-failed", `inflow "many"`) // all that is wrong
	o.shows("#room-failed", `id "Not An Id"`)
	o.types("#r-id", "demo")
	o.types("#r-name", "Tickets <b>")
	o.types("#r-inflow", "2")
	o.types("#r-target_url", "https://shop.example/")
	o.saves("The room is made")
	o.shows("h1", "Tickets <b>")
	for range 5 {
		g.join()
	}
	o.shows("#room-live", "Places given5")

	o.types("#r-inflow", "1")
	o.types("#r-interval_sec", "3600")
	o.saves("Saved, and in force")
	o.shows("#room-live", "1 per 1h")
	o.shows("#audit ~ *", "inflow")
	o.click("[data-message=add]")
	o.types("#message-words", "Sold out in S.")
	o.confirms("Add a message")
	o.shows("#messages ~ *", "Sold out in S.")
	o.click("[data-message=hide]")
	o.shows(".toast", "hidden")
	o.click("[data-message=edit]")
	o.types("#message-words", "Sold out in M.")
	o.confirms("Change the message")
	o.shows("#messages ~ *", "Sold out in M.")
	o.click("[data-room-act=pause]")
	o.confirms("Nobody is let in")
	o.shows("#room-live .pill.room", "paused")
	o.click("[data-room-act=resume]")
	o.confirms("let in again")
	o.shows("#room-live .pill.room", "open")
	o.click("[data-room-act=open]")
	o.confirms("Everybody who is in line now")
	o.shows(".toast", "wide open")
	o.shows("#room-live", "Admitted5")
	o.shot("gate-room")
	o.click("[data-message=delete]")
	o.confirms("Sold out in M.")
	o.shows("#messages ~ *", "No messages")

	o.open("/rooms")
	o.shows("#rooms-live tbody", "Tickets <b>")
	o.shot("gate-rooms")
	o.onAPhone(func() {
		o.open("/rooms/room?kind=gate&id=demo")
		o.shot("gate-room-phone")
	}, "/rooms", "/rooms/new?kind=gate", "/rooms/room?kind=gate&id=demo", "/access")
	o.open("/rooms/room?kind=gate&id=demo")
	o.click("[data-room-act=reset]")
	o.confirms("Tickets, counters and statistics are gone")
	o.shows("#room-live", "Places given0")
	o.click("[data-room-act=delete]")
	o.confirms("The room is gone")
	o.shows("#rooms-live", "There are no rooms yet")
	o.open("/access")
	o.shows("#audit ~ *", "delete room")
	if status, _ := call(t, http.MethodGet, g.operators+"/api/overview", adminToken, ""); status != http.StatusNotFound {
		t.Errorf("what is about a proxy answers %d", status)
	}
}

// TestSiteRoomsInABrowser: rooms within the site are made, changed and taken back
// in the portal.
func TestSiteRoomsInABrowser(t *testing.T) {
	ctx := browser(t)
	org := newOrigin(t)
	p, portal := startPortal(t, dataDir(t), org.Addr(), "-cap", "5", "-door-max", "0")
	o := &operator{t: t, ctx: ctx, p: p, portal: portal}
	o.do(chromedp.Navigate(o.portal))
	o.enters(operatorPass, ".control")
	o.open("/rooms")
	o.do(chromedp.Click(".title a.button"))
	o.until(`document.querySelector("#r-hosts") && "ready" in document.documentElement.dataset`)
	// By keyboard alone, from the first field to the button.
	o.do(chromedp.Focus("#r-id"), chromedp.SendKeys("#r-id", "till"+kb.Tab+"The till"+kb.Tab+kb.Tab+"/hold/*"))
	o.types("#r-cap", "0")
	o.do(chromedp.Focus("#r-html"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	o.shows("#room-failed", "cap 0: want a whole number from 1")
	o.types("#r-cap", "1")
	o.saves("The room is made")
	o.shows("h1", "The till")
	o.shows("#room-live", "/hold/*")

	occupy(t, org, p)
	v := newVisitor(t, p)
	v.page("/hold/pay")
	o.shows("#room-live", "Waiting1")
	o.shows("#room-live", "1 / 1")
	o.click("[data-room-act=pause]")
	o.shows("dialog", "1 who wait in room till are not let in")
	o.confirms("Nobody is let in")
	o.shows("#room-live .pill.room", "paused")
	o.undoes("is paused", "taken back")
	o.shows("#room-live .pill.room", "open")
	o.types("#r-inflow", "3")
	o.types("#r-message", "Cards only.")
	o.saves("Saved, and in force")
	o.shows("#room-live", "3 per 1s")
	o.shows("#audit ~ *", "Cards only.")
	o.click("[data-room-act=open]")
	o.confirms("the cap alone holds")
	o.shows("#room-live", "no limit")
	o.shot("site-room")
	o.click("[data-room-act=reset]")
	o.confirms("loses the place")
	o.shows("#room-live", "Waiting0")
	v.page("/hold/pay")
	o.click("[data-room-act=delete]")
	o.shows("dialog", "1 wait in room till; they begin anew")
	o.confirms("Its pages belong")
	o.shows("#rooms-live", "There are no rooms yet")
	o.undoes("is deleted", "taken back")
	o.shows("#rooms-live tbody", "The till")
	if got := roomStats(t, p); got.QueueDepth != 1 {
		t.Errorf("%d wait after the room is back, want 1", got.QueueDepth)
	}
	dark := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, dark); err != nil {
		t.Fatal(err)
	}
	o.open("/rooms")
	o.shot("site-rooms-dark")
	o.onAPhone(func() {}, "/rooms", "/rooms/new?kind=site", "/rooms/room?kind=site&id=till")
	desk := signIn(t, p, portal, viewerPass)
	if got := desk.do(http.MethodGet, "/rooms/room?kind=site&id=till", "text/html", ""); !strings.Contains(got.body, "Viewers change nothing") {
		t.Errorf("a viewer's page: %d", got.status)
	}
}
