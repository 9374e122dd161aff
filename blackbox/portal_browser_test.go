package blackbox

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// multitude is how many wait while operators work.
const multitude = 10_000

// TestPortalInABrowser signs in to a running Concert and does each action on
// each tab, with ten thousand in line behind it.
func TestPortalInABrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	p, portal := startPortal(t, t.TempDir(), newOrigin(t).Addr(), "-cap", "5", "-room", "paused", "-door-max", "0", "-max-queue", "0",
		"-token-ttl", "1h", "-first-poll-grace", "0", "-ban-paths", "/.env", "-access-log=false")
	fillLine(t, p)
	o := &operator{t: t, ctx: ctx, p: p, portal: portal}
	for _, tt := range []struct {
		name string
		play func(o *operator)
	}{
		{"sign in", (*operator).signsIn},
		{"overview", (*operator).changesTheCap},
		{"queue", (*operator).actsOnTheQueue},
		{"find", (*operator).findsAVisitor},
		{"bans", (*operator).actsOnBans},
		{"visitors and ban log", (*operator).looksAtVisitors},
		{"settings", (*operator).changesSettings},
		{"keyboard", (*operator).worksByKeyboard},
		{"phone", (*operator).worksOnAPhone},
		{"resume", (*operator).resumes},
		{"sessions", (*operator).endsSessions},
		{"viewer", (*operator).onlyLooks},
	} {
		done := t.Run(tt.name, func(t *testing.T) {
			o.t = t
			tt.play(o)
		})
		if !done {
			t.FailNow() // one goes on where the last one stopped
		}
	}
}

// fillLine has a multitude join the line, each from an address of their own; one in
// a thousand asks for a ban path.
func fillLine(t *testing.T, p *launch.Process) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	t.Cleanup(client.CloseIdleConnections)
	join := func(i int) error {
		path := fmt.Sprintf("/tickets/%d", i)
		if i%1000 == 7 {
			path = "/.env"
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
		if err != nil {
			return err
		}
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("198.18.%d.%d", i>>8, i&255))
		r.Header.Set("User-Agent", "<script>alert(1)</script>")
		resp, err := client.Do(r)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}
	var g sync.WaitGroup
	for first := range 16 {
		g.Go(func() {
			for i := first; i < multitude+multitude/1000+1; i += 16 {
				if err := join(i); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	g.Wait()
	if n := stats(t, p).QueueDepth; n != multitude {
		t.Fatalf("%d in line, want %d", n, multitude)
	}
}

func (o *operator) signsIn() {
	o.do(chromedp.Navigate(o.portal))
	o.enters("not the password", "#problem")
	o.enters(operatorPass, ".control")
	o.until(`"ready" in document.documentElement.dataset`)
	o.shows(".strip", "10,000")
	o.shows("[data-sentence]", "Admissions are paused")
}

func (o *operator) changesTheCap() {
	o.open("/")
	o.until(`document.querySelectorAll(".plot svg .line").length >= 5`)
	o.click("[data-act=cap]")
	o.types("#new-cap", "7")
	o.confirms("how many page requests may be at the origin")
	o.shows(".control [data-status=cap]", "7")
	if n := stats(o.t, o.p).Cap; n != 7 {
		o.t.Errorf("the cap is %d, want 7", n)
	}
	o.undoes("The cap is 7", "taken back")
	o.shows(".control [data-status=cap]", "5")
}

func (o *operator) actsOnTheQueue() {
	o.open("/queue")
	o.shows("#summary", "10,000 visitors in line")
	o.click("#pager [rel=last], #pager [data-page='400']")
	o.shows("#rows tr:last-child", "10,000")
	o.shows("#rows", "<script>alert(1)</script>")
	last := `document.querySelector("#rows tr:last-child")`
	o.until(`(() => { window.key = ` + last + `.dataset.key; return true; })()`)
	o.click("#rows tr:last-child [data-act=front]")
	o.confirms("They are let in next")
	o.click("#pager [data-page='1']")
	o.until(`document.querySelector("#rows tr").dataset.key === window.key && document.querySelector("#rows tr").textContent.includes("moved up")`)
	o.click("#rows tr [data-act=remove]")
	o.confirms("They may join again")
	o.shows("#summary", "9,999 visitors in line")
	o.click("#rows tr:not(.leaving) [data-act=kickban]")
	o.confirms("Every request from it is refused")
	o.shows("#summary", "9,998 visitors in line")
	o.undoes("removed and banned for 1h", "is not banned any more")
	o.types("#filter", "/tickets/4242")
	o.shows("#summary", "1 visitor in line matches")
	o.until(`document.querySelectorAll("#rows tr").length === 1`)
}

func (o *operator) findsAVisitor() {
	o.open("/queue")
	o.do(chromedp.SendKeys("#find-q", "198.18.16.146"+kb.Enter)) // 4242
	o.shows("dialog .found", "/tickets/4242")
	o.shows("dialog .found", "Admissions are paused")
	o.shows("dialog .found", "visitors are ahead of them")
	o.click("dialog [data-act=front]")
	o.confirms("They are let in next")
	o.shows("#rows tr", "198.18.16.146")
}

func (o *operator) actsOnBans() {
	o.open("/bans")
	o.click(".title [data-act=newban]")
	o.types("#ban-client", "198.18.1.0/24")
	o.types("#ban-note", "</td><img src=x>")
	o.shows("dialog .preview", "visitors in line are removed")
	o.confirms("The range 198.18.1.0/24")
	o.shows("#rows", "</td><img src=x>")
	o.undoes("is banned until", "is not banned any more")
	o.until(`!document.querySelector("#rows tr[data-key='198.18.1.0/24']:not(.leaving)")`)
	o.click(".title [data-act=newban]")
	o.types("#ban-client", "2001:db8::/20")
	o.shows("dialog .preview", "2001:")
	o.click("#ban-permanent")
	o.shows("dialog .primary", "permanently")
	o.confirms("Nobody in line is concerned")
	o.shows("#rows tr.red", "permanent")
	o.click("#rows tr.red [data-act=changeban]")
	o.click("#ban-permanent")
	o.until(`(() => { const s = document.querySelector("#ban-length"); s.value = "24h"; return s.dispatchEvent(new Event("input", {bubbles: true})); })()`)
	o.confirms("It replaces a ban that is permanent")
	o.until(`!document.querySelector("#rows tr.red")`)
	o.click("#rows tr[data-key='2001::/20'] [data-act=unban]")
	o.confirms("taken again at once")
	o.undoes("is not banned any more", "is banned as before")
	o.shows("#rows", "2001::/20")
}

func (o *operator) looksAtVisitors() {
	o.open("/visitors?flagged=1")
	o.until(`document.querySelectorAll("#rows tr.amber").length > 0`)
	o.click("#rows .expander")
	o.shows("#rows .detail", "Requests, newest first")
	o.shows("#rows .detail", "/.env")
	o.click("#rows [data-act=unban]")
	o.confirms("taken again at once")
	o.shows("#rows", "was banned")
	o.open("/banlog")
	o.click("#rows .expander")
	o.shows("#rows .detail", "Addresses")
	o.types("#filter", ".env")
	o.shows("#summary", "match")
}

func (o *operator) changesSettings() {
	o.open("/settings")
	o.types("#f-max_queue", "many")
	o.click("#review")
	o.shows("dialog", "Nothing was changed")
	o.click("dialog .ends button")
	o.shows("[data-key=max_queue] .problem", "Wanted")
	o.types("#f-max_queue", "20000")
	o.types("#f-message", "Doors open at ten.")
	o.click("#review")
	o.shows("dialog ins", "20000")
	o.confirms("Save these changes?")
	o.shows(".toast", "Saved")
	o.until(`document.querySelector("[data-key=max_queue]").dataset.source === "file" && document.querySelector("#f-max_queue").value === "20000"`)
	o.click("[data-key=message] [data-act=reset]")
	o.confirms("The value kept in settings.json is dropped")
	o.until(`document.querySelector("[data-key=message]").dataset.source === "default"`)
	o.click("[data-act=undo-settings]")
	o.shows("dialog ins", "Doors open at ten.")
	o.confirms("Undo the last change?")
	o.until(`document.querySelector("#f-message")?.value === "Doors open at ten."`)
	o.types("#settings-q", "portal session")
	o.until(`[...document.querySelectorAll(".field")].filter(f => f.checkVisibility()).length < 5`)
}

// worksByKeyboard goes from the top of the page to a row, and removes it.
func (o *operator) worksByKeyboard() {
	o.open("/queue")
	before := stats(o.t, o.p).QueueDepth
	for range 60 {
		o.do(chromedp.KeyEvent(kb.Tab))
		if on, err := chromedp.Run(o.ctx, chromedp.Evaluate[bool](`document.activeElement.matches("#rows [data-act=remove]")`)); err == nil && on {
			break
		}
	}
	o.until(`document.activeElement.matches("#rows [data-act=remove]:focus-visible")`)
	o.shows("#pause", "while you are in the table")
	o.do(chromedp.KeyEvent(kb.Enter))
	o.until(`document.activeElement.closest("dialog") !== null`)
	o.do(chromedp.KeyEvent(kb.Escape))
	o.until(`!document.querySelector("dialog") && document.activeElement.matches("#rows [data-act=remove]")`)
	o.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	o.shows(".toast", "removed from the line")
	if n := stats(o.t, o.p).QueueDepth; n != before-1 {
		o.t.Errorf("%d in line, want %d", n, before-1)
	}
}

func (o *operator) worksOnAPhone() {
	o.onAPhone(func() {
		o.open("/queue")
		o.do(chromedp.Click("#rows tr [data-act=remove]"))
		o.confirms("They may join again")
		o.shows(".toast", "removed from the line")
	}, "/", "/queue?page=9", "/bans", "/visitors", "/banlog", "/settings", "/access")
}

func (o *operator) resumes() {
	o.open("/")
	o.click("[data-act=resume]")
	o.confirms("Visitors are let in again")
	o.shows("[data-sentence]", "Open")
	o.click("[data-act=pause]")
	o.confirms("Nobody is let in until")
	o.shows("[data-sentence]", "Admissions are paused")
}

func (o *operator) endsSessions() {
	other := signIn(o.t, o.p, o.portal, operatorPass)
	o.open("/access")
	for _, what := range []string{"sign-in failed", "settings", "promote", "remove", "ban", "unban"} {
		o.shows("#audit ~ * td", what)
	}
	o.click("[data-act=revoke]:not([data-current])")
	o.confirms("Whoever has it open")
	o.shows(".toast", "The session has ended")
	other.want(http.StatusUnauthorized, http.MethodGet, "/api/overview", "")
	o.click(".menu button")
	o.do(chromedp.WaitVisible("#pass"))
}

func (o *operator) onlyLooks() {
	o.enters(viewerPass, ".control")
	o.open("/queue")
	o.click("#rows [data-act=remove]")
	o.shows(".toast", "viewers change nothing")
	o.until(`!document.querySelector("dialog")`)
	got, err := chromedp.Run(o.ctx, chromedp.Evaluate[string](`fetch("/api/cap", {method: "POST", headers: {"Content-Type": "application/json", "X-CSRF-Token": document.querySelector("meta[name=csrf-token]").content}, body: '{"cap": 1}'}).then(async r => r.status + await r.text())`, chromedp.EvalAwaitPromise))
	if err != nil || !strings.HasPrefix(got, "403") {
		o.t.Errorf("a viewer changes the cap: %s, %v", got, err)
	}
}
