package queue

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/parts/chromium"
)

// tab is a tab with cookies of its own, and the waiting room it looks at.
type tab struct {
	*rig
	t         *testing.T
	ctx       context.Context
	url       string
	serving   atomic.Pointer[rig] // who answers
	broken    atomic.Bool         // while set, connections are cut without an answer
	forgetful atomic.Bool         // while set, no cookie reaches the server
	failing   atomic.Int32        // while set, the status that polls are answered with
}

func openTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	p := &tab{rig: newRig(t, newLine(oneSlot()), nil), t: t}
	p.serving.Store(p.rig)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.broken.Load() {
			panic(http.ErrAbortHandler)
		}
		if p.forgetful.Load() {
			r.Header.Del("Cookie")
		}
		if code := p.failing.Load(); code != 0 && r.URL.Path == StatusPath {
			w.WriteHeader(int(code))
			return
		}
		p.serving.Load().p.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	p.ctx = chromium.Tab(t, browser, chromedp.WithNewBrowserContext())
	return p
}

// another opens a second tab of the same browser window, with the same cookies.
func (p *tab) another() *tab {
	p.t.Helper()
	return &tab{rig: p.rig, t: p.t, url: p.url, ctx: chromium.Tab(p.t, p.ctx)}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// until waits for a condition, in JavaScript, that may need several page loads.
func (p *tab) until(condition string) {
	p.t.Helper()
	chromium.Until(p.t, p.ctx, condition)
}

func (p *tab) untilTrue(what string, ok func() bool) {
	p.t.Helper()
	chromium.UntilTrue(p.t, p.ctx, what, ok)
}

func (p *tab) scripts(on bool) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
	if err != nil {
		p.t.Fatal(err)
	}
}

const (
	place     = `document.getElementById("position")?.textContent`
	confirmed = `document.getElementById("confirmed-row")?.hidden === false`
	admitted  = `document.body?.innerText.includes("from the origin")`
)

// TestInABrowser goes through the waiting page as people do.
func TestInABrowser(t *testing.T) {
	browser := chromium.Start(t)
	for _, tt := range []struct {
		name string
		play func(p *tab)
	}{
		{"waits and is admitted", waitsAndIsAdmitted},
		{"moves up", movesUp},
		{"reloads", reloads},
		{"leaves", leaves},
		{"leaves without scripts", leavesWithoutScripts},
		{"is admitted without scripts", admittedWithoutScripts},
		{"refuses cookies", refusesCookies},
		{"loses the connection", losesTheConnection},
		{"meets a gateway's errors", meetsErrors},
		{"goes back", goesBack},
		{"has a small screen", smallScreen},
		{"looks at something else", looksAtSomethingElse},
		{"has two tabs", hasTwoTabs},
		{"leaves in one of two tabs", leavesInOneOfTwoTabs},
		{"sees Concert restart", seesARestart},
		{"keeps no cookies and runs no scripts", keepsNothing},
		{"picks a language", picksALanguage},
		{"picks a language without scripts", picksALanguageWithoutScripts},
		{"reads the operator's messages", readsMessages},
		{"never sees the number rise", neverSeesTheNumberRise},
		{"hears that the site hangs", hearsThatTheSiteHangs},
		{"is offered a place at the front", isOfferedTheFront},
		{"asks to be called", asksToBeCalled},
		{"gets an exported page", getsAnExportedPage},
		{"prefers less motion", prefersLessMotion},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // they mostly wait
			tt.play(openTab(t, browser))
		})
	}
}

func waitsAndIsAdmitted(p *tab) {
	release := p.fill()
	p.do(chromedp.Navigate(p.url + "/shop?x=1#here"))
	p.until(place + ` === "1" && ` + confirmed)
	p.until(`document.title === "1 · You are in line"`)
	release()
	p.until(admitted + ` && location.hash === "#here"`)
	if got := p.seen(); !strings.HasPrefix(got, "GET /shop") {
		p.t.Errorf("the origin got %q", got)
	}
}

func movesUp(p *tab) {
	p.fill()
	ahead := join(p.t, p.line)
	p.do(chromedp.Navigate(p.url))
	p.until(place + ` === "2"`)
	if err := p.line.Quit(p.ctx, time.Now(), ahead); err != nil {
		p.t.Fatal(err)
	}
	p.until(place + ` === "1" && document.getElementById("progress").value === 50`)
	p.until(`document.getElementById("news").textContent.startsWith("Your place in line is 1.")`)
}

func reloads(p *tab) {
	p.fill()
	join(p.t, p.line)
	p.do(chromedp.Navigate(p.url))
	p.until(place + ` === "2"`)
	p.do(chromedp.Reload())
	p.until(place + ` === "2" && ` + confirmed)
	if n := p.live(); n != 2 {
		p.t.Errorf("%d in line", n)
	}
}

func leaves(p *tab) {
	p.fill()
	p.do(chromedp.Navigate(p.url+"/shop"), chromedp.Click(chromedp.CSS("#waiting summary")), chromedp.Click(chromedp.CSS("#leave button")), chromedp.WaitVisible(chromedp.ID("left")))
	p.until(`document.activeElement.id === "title" && location.pathname === "/shop"`)
	if n := p.live(); n != 0 {
		p.t.Errorf("%d in line", n)
	}
}

func leavesWithoutScripts(p *tab) {
	p.fill()
	p.scripts(false)
	p.do(chromedp.Navigate(p.url), chromedp.Click(chromedp.CSS("#waiting summary")), chromedp.Click(chromedp.CSS("#leave button")))
	p.untilTrue("the place is given back", func() bool { return p.stage.Stats().Left == 1 })
	p.scripts(true)
	p.until(`location.pathname === "/queue/leave" && document.title === "You have left the line"`)
}

func admittedWithoutScripts(p *tab) {
	release := p.fill()
	p.scripts(false)
	p.do(chromedp.Navigate(p.url), chromedp.WaitVisible(chromedp.ID("position")))
	release()
	p.untilTrue("the page is refreshed", func() bool { return p.seen() != "" })
	p.scripts(true)
	p.until(admitted)
	if n := p.stage.Stats(); n.Polls != 0 || n.Pages != 1 {
		p.t.Errorf("stats %+v, want one page and no poll", n)
	}
}

func refusesCookies(p *tab) {
	p.fill()
	_, err := chromedp.Call(p.ctx, emulation.SetDocumentCookieDisabled, emulation.SetDocumentCookieDisabledParams{Disabled: true})
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.Navigate(p.url), chromedp.WaitVisible(chromedp.ID("cookies")))
	if n := p.stage.Stats(); n.Polls != 0 || n.Pages != 1 {
		p.t.Errorf("stats %+v, want one page and no poll", n)
	}
}

func losesTheConnection(p *tab) {
	release := p.fill()
	p.do(chromedp.Navigate(p.url))
	p.until(confirmed)
	p.broken.Store(true)
	p.do(chromedp.WaitVisible(chromedp.ID("trouble")))
	p.broken.Store(false)
	p.do(chromedp.WaitNotVisible(chromedp.ID("trouble")))
	release()
	p.until(admitted)
}

// goesBack is admitted and presses the back button: the old waiting page must
// not stand there for good.
func goesBack(p *tab) {
	release := p.fill()
	p.do(chromedp.Navigate(p.url + "/queued"))
	p.until(place + ` === "1"`)
	p.do(chromedp.Navigate(p.url + "/queue/leave"))
	release()
	p.do(chromedp.NavigateBack())
	p.until(admitted)
}

// smallScreen looks for anything that reaches out of a screen of 320 pixels.
func smallScreen(p *tab) {
	p.fill()
	p.do(chromedp.EmulateViewport(320, 640), chromedp.Navigate(p.url))
	p.until(confirmed)
	wide, err := chromedp.Run(p.ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
	if err != nil || wide > 320 {
		p.t.Errorf("the page is %d pixels wide (%v)", wide, err)
	}
}
