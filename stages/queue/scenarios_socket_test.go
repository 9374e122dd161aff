package queue

import (
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// change applies another configuration.
func (p *tab) change(f func(c *Config)) {
	p.t.Helper()
	c := p.stage.live.Load().cfg
	f(&c)
	if err := p.stage.Apply(c); err != nil {
		p.t.Fatal(err)
	}
}

// speaks sets the browser's language.
func (p *tab) speaks(tags string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": tags}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// prefers sets what the visitor prefers, by media features and their values.
func (p *tab) prefers(pairs ...string) {
	p.t.Helper()
	var features []*emulation.MediaFeature
	for i := 0; i < len(pairs); i += 2 {
		features = append(features, &emulation.MediaFeature{Name: pairs[i], Value: pairs[i+1]})
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) quit(ticket line.Ticket) {
	p.t.Helper()
	if err := p.line.Quit(p.ctx, time.Now(), ticket); err != nil {
		p.t.Fatal(err)
	}
}

// hide makes the page believe that another tab is in front: a headless browser
// shows all of them.
const hide = `(() => {
	Object.defineProperty(document, "hidden", {get: () => true});
	document.dispatchEvent(new Event("visibilitychange"));
	return document.hidden;
})()`

// looksAtSomethingElse has another tab in front when the turn comes. What the
// title said is noted where it outlasts the page.
func looksAtSomethingElse(p *tab) {
	release := p.fill()
	p.do(chromedp.Navigate(p.url + "/shop"))
	p.until(confirmed)
	p.until(hide)
	p.until(`(() => {
		new MutationObserver(() => sessionStorage.setItem("title", document.title)).observe(document.querySelector("title"), {childList: true});
		return true;
	})()`)
	release()
	p.until(admitted + ` && sessionStorage.getItem("title") === "It is your turn!"`)
}

// hasTwoTabs has one place with both, and is admitted in one of them.
func hasTwoTabs(p *tab) {
	release := p.fill()
	ahead := join(p.t, p.line)
	p.do(chromedp.Navigate(p.url + "/one"))
	p.until(place + ` === "2" && ` + confirmed)
	second := p.another()
	second.do(chromedp.Navigate(p.url + "/two"))
	second.until(place + ` === "2" && ` + confirmed)
	if n := p.live(); n != 2 {
		p.t.Errorf("%d in line, want one ahead and one for both tabs", n)
	}
	p.quit(ahead)
	p.until(place + ` === "1"`)
	second.until(place + ` === "1"`)
	release()
	inside := func(q *tab) bool {
		ok, err := chromedp.Run(q.ctx, chromedp.Evaluate[bool](admitted))
		return err == nil && ok
	}
	p.untilTrue("one tab is admitted", func() bool { return inside(p) || inside(second) })
	other := p
	if inside(p) {
		other = second
	}
	other.until(`document.getElementById("turn-text").textContent === "It is your turn: the site has opened in another tab." && document.title === "It is your turn!"`)
	if got := p.seen(); strings.Count(got, "GET /one")+strings.Count(got, "GET /two") != 1 {
		p.t.Errorf("the origin got %q, want one of the pages", got)
	}
	other.do(chromedp.Click(chromedp.ID("here")))
	other.until(admitted)
}

func leavesInOneOfTwoTabs(p *tab) {
	p.fill()
	p.do(chromedp.Navigate(p.url + "/one"))
	second := p.another()
	second.do(chromedp.Navigate(p.url + "/two"))
	second.until(confirmed)
	second.do(chromedp.Click(chromedp.CSS("#waiting summary")), chromedp.Click(chromedp.CSS("#leave button")))
	for _, q := range []*tab{p, second} {
		q.until(`document.getElementById("left").hidden === false && document.title === "You have left the line"`)
	}
}

// seesARestart waits while another process with the same secret takes over.
func seesARestart(p *tab) {
	p.fill()
	join(p.t, p.line)
	p.do(chromedp.Navigate(p.url))
	p.until(place + ` === "2" && ` + confirmed)
	p.broken.Store(true)
	p.do(chromedp.WaitVisible(chromedp.ID("trouble")))
	l := newLine(oneSlot())
	if err := l.Restore(p.ctx, time.Now(), line.Snapshot{Taken: time.Now()}, true); err != nil {
		p.t.Fatal(err)
	}
	next := newRig(p.t, l, nil)
	release := next.fill()
	p.serving.Store(next)
	p.broken.Store(false)
	p.do(chromedp.WaitNotVisible(chromedp.ID("trouble")))
	p.until(place + ` === "1"`)
	if n := next.strikes.Load(); n != 0 {
		p.t.Errorf("%d strikes", n)
	}
	release()
	p.until(admitted)
}

// meetsErrors has something between Concert and the visitor answer in its place.
func meetsErrors(p *tab) {
	release := p.fill()
	p.do(chromedp.Navigate(p.url))
	p.until(confirmed)
	for _, code := range []int32{http.StatusBadGateway, http.StatusTooManyRequests} {
		p.failing.Store(code)
		p.do(chromedp.WaitVisible(chromedp.ID("trouble")))
		p.failing.Store(0)
		p.do(chromedp.WaitNotVisible(chromedp.ID("trouble")))
	}
	if n := p.stage.Stats().Pages; n != 1 {
		p.t.Errorf("%d loads of the page, want one", n)
	}
	release()
	p.until(admitted)
}

// keepsNothing has neither scripts nor cookies: it is told so, and the page it
// is told on stays.
func keepsNothing(p *tab) {
	p.fill()
	p.scripts(false)
	p.forgetful.Store(true)
	p.do(chromedp.Navigate(p.url + "/shop?x=1"))
	p.untilTrue("the visitor is told", func() bool { return p.stage.Stats().Cookieless == 1 })
	p.scripts(true)
	p.until(`document.title === "Cookies are needed to keep your place" && !document.querySelector("meta[http-equiv=refresh]")`)
	p.until(`document.querySelector("main a").getAttribute("href") === "/shop?x=1"`)
	if n := p.stage.Stats(); n.Pages != 1 {
		p.t.Errorf("%d waiting pages, want one", n.Pages)
	}
}

func picksALanguage(p *tab) {
	p.fill()
	join(p.t, p.line)
	p.do(chromedp.Navigate(p.url + "/shop?x=1#here"))
	p.until(place + ` === "2" && ` + confirmed)
	p.do(chromedp.Click(chromedp.CSS(".languages summary")), chromedp.Click(chromedp.CSS(".languages a[lang=ar]")))
	p.until(`document.dir === "rtl" && document.documentElement.lang === "ar" && ` + place + ` === "2" && ` + confirmed)
	p.until(`location.pathname + location.search + location.hash === "/shop?x=1#here"`)
	p.until(`document.getElementById("ahead").textContent === "شخص واحد أمامك"`)
	// Where the page begins is on the right now.
	p.until(`document.querySelector(".languages").getBoundingClientRect().left < innerWidth / 2`)
	if n := p.live(); n != 2 {
		p.t.Errorf("%d in line", n)
	}
}

func picksALanguageWithoutScripts(p *tab) {
	p.fill()
	p.scripts(false)
	p.do(chromedp.Navigate(p.url+"/shop?x=1"), chromedp.Click(chromedp.CSS(".languages summary")), chromedp.Click(chromedp.CSS(".languages a[lang=pl]")))
	p.untilTrue("the page comes again", func() bool { return p.stage.Stats().Pages == 2 })
	p.scripts(true)
	p.until(`document.documentElement.lang === "pl" && location.search === "?x=1" && ` + place + ` === "1"`)
	if n := p.live(); n != 1 {
		p.t.Errorf("%d in line", n)
	}
}

func readsMessages(p *tab) {
	p.fill()
	say := func(text string, warning bool) {
		p.t.Helper()
		message, err := notice.Parse(text)
		if err != nil {
			p.t.Fatal(err)
		}
		p.change(func(c *Config) { c.Look.Message, c.Look.Warning = message, warning })
	}
	p.speaks("de")
	p.do(chromedp.Navigate(p.url))
	p.until(confirmed + ` && document.getElementById("message").hidden`)
	say("Later than planned. | de=<b>Später</b> als geplant.", true)
	p.until(`document.getElementById("message").innerText === "Wichtig <b>Später</b> als geplant." && document.getElementById("message").className === "note warning"`)
	say("Soon.", false)
	p.until(`document.getElementById("message").innerText === "Hinweis Soon." && document.getElementById("message").className === "note info"`)
	say("", false)
	p.until(`document.getElementById("message").hidden`)
}

// neverSeesTheNumberRise has somebody moved in front of the visitor.
func neverSeesTheNumberRise(p *tab) {
	p.fill()
	p.do(chromedp.Navigate(p.url))
	p.until(place + ` === "1" && ` + confirmed)
	behind := join(p.t, p.line)
	if err := p.line.Promote(p.ctx, time.Now(), behind, 1); err != nil {
		p.t.Fatal(err)
	}
	p.until(`document.getElementById("reason").textContent.startsWith("Someone ahead of you came back")`)
	p.until(place + ` === "1" && document.getElementById("ahead").textContent === "You are next"`)
}

// hearsThatTheSiteHangs has the line first know how long it takes, then not,
// then know again: the reason stays for as long as the wait cannot be told, and
// the page goes on saying what it was told before.
func hearsThatTheSiteHangs(p *tab) {
	p.fill()
	p.do(chromedp.Navigate(p.url))
	p.until(confirmed)
	p.until(`(() => {
		window.answer = {eta_seconds: 5};
		window.asked = [];
		window.fetch = address => {
			asked.push(String(address));
			return Promise.resolve(new Response(JSON.stringify({ready: false, position: 1, poll_after_ms: 1000, ...answer}), {headers: {"Content-Type": "application/json"}}));
		};
		return true;
	})()`)
	p.until(`document.getElementById("eta").textContent === "less than a minute" && asked.length > 1 && /seen=1\.\d+$/.test(asked.at(-1))`)
	p.until(`(answer = {reason: "slower"}, true)`)
	p.until(`document.getElementById("eta").textContent === "cannot be told yet" && document.getElementById("reason").textContent.startsWith("The site is working more slowly")`)
	p.until(`(asked = [], true)`)
	p.until(`asked.length > 1 && asked.every(address => /seen=1\.\d+$/.test(address))`)
	p.until(`(answer = {eta_seconds: 5}, true)`)
	p.until(`document.getElementById("eta").textContent === "less than a minute" && document.getElementById("reason").hidden`)
}

// asksToBeCalled switches sound and notifications on.
func asksToBeCalled(p *tab) {
	release := p.fill()
	p.do(chromedp.Navigate(p.url))
	p.until(confirmed)
	// The calls are noted, for nobody hears or sees them here.
	p.until(`(() => {
		const calls = {push: text => sessionStorage.setItem("calls", (sessionStorage.getItem("calls") || "") + text + ".")};
		Notification = class { constructor(title, options) { calls.push(title + " " + options.body) } static requestPermission() { return Promise.resolve("granted") } };
		const start = OscillatorNode.prototype.start;
		OscillatorNode.prototype.start = function(at) { calls.push("tone"); start.call(this, at) };
		return true;
	})()`)
	p.do(chromedp.Click(chromedp.ID("sound")), chromedp.Click(chromedp.ID("notify")))
	p.until(`document.getElementById("notify").checked && document.getElementById("denied").hidden && sessionStorage.getItem("calls") === "tone.tone."`)
	p.until(hide)
	release()
	p.until(admitted + ` && sessionStorage.getItem("calls") === "tone.tone.tone.tone.It is your turn! It is your turn. Taking you in now.."`)
}

// getsAnExportedPage has the built-in page as its operator's own.
func getsAnExportedPage(p *tab) {
	html, err := page.Export(language.German, page.Look{})
	if err != nil {
		p.t.Fatal(err)
	}
	message, err := notice.Parse("Gleich.")
	if err != nil {
		p.t.Fatal(err)
	}
	p.change(func(c *Config) { c.HTML, c.Look.Message = html, message })
	release := p.fill()
	join(p.t, p.line)
	ahead := join(p.t, p.line)
	p.do(chromedp.Navigate(p.url + "/shop"))
	p.until(place + ` === "3" && document.getElementById("ahead").textContent === "2 Personen vor Ihnen"`)
	p.until(confirmed + ` && document.getElementById("message-text").textContent === "Gleich." && !document.querySelector(".languages")`)
	p.quit(ahead)
	p.until(place + ` === "2"`)
	occupants, err := p.line.List(p.ctx, time.Now(), 0, 1)
	if err != nil || len(occupants) != 1 {
		p.t.Fatal(occupants, err)
	}
	p.quit(occupants[0].Place.Ticket)
	release()
	p.until(admitted)
}

func prefersLessMotion(p *tab) {
	p.fill()
	const moving = `[...document.querySelectorAll("*")].some(e => getComputedStyle(e).transitionDuration.split(", ").some(d => d !== "0s") || getComputedStyle(e).animationName !== "none")`
	p.prefers("prefers-reduced-motion", "no-preference")
	p.do(chromedp.Navigate(p.url))
	p.until(confirmed + ` && ` + moving)
	p.prefers("prefers-reduced-motion", "reduce")
	p.until(`!(` + moving + `)`)
}
