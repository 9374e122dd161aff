package view

import (
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const firstRow = `document.querySelector("#rows > tr[data-key]:not(.leaving)")`

// moves says that the line has moved up by so many.
func (b *tab) moves(n int) { b.change(func() { b.ahead += n }) }

func rowsMove(b *tab) {
	b.open("/queue?page=2")
	b.until(firstRow + `.textContent.includes("26")`)
	b.moves(2)
	b.until(`[...document.querySelectorAll("#rows tr.leaving .way")].map(e => e.textContent).join() === "left the line,left the line"`)
	b.until(`[...document.querySelectorAll("#rows tr:not(.leaving) .way")].map(e => e.textContent).join() === "from page 3,from page 3"`)
	b.until(`document.querySelectorAll("#rows > tr").length === 25 && !document.querySelector("#rows .way")`)
	b.moves(-2) // what was here comes back
	b.until(`[...document.querySelectorAll("#rows tr.leaving .way")].some(e => e.textContent.startsWith("moved") || e.textContent === "left the line")`)
}

// point moves the mouse to the middle of what a selector finds.
func (b *tab) point(selector string) {
	b.t.Helper()
	box, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]float64](`(() => { const r = document.querySelector("`+selector+`").getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`))
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.MouseEvent("mouseMoved", box[0], box[1]))
}

func pointerHolds(b *tab) {
	b.open("/queue")
	b.point("#rows tr td")
	b.until(`document.getElementById("pause").textContent.startsWith("Paused while you point")`)
	b.moves(3)
	b.staysAt("1")
	b.point("h1")
	b.until(firstRow + `.dataset.key !== "` + sampleQueueRow(1).ID + `"`)
}

// staysAt waits for as long as two refreshes take, by the page's own clock, and
// sees the first row where it is.
func (b *tab) staysAt(position string) {
	b.t.Helper()
	b.script(`window.waited = false; setTimeout(() => { window.waited = true; }, 2500)`)
	b.until(`window.waited`)
	b.until(firstRow + `.querySelector("b").textContent === "` + position + `"`)
}

func switchHolds(b *tab) {
	b.open("/queue")
	b.do(chromedp.Click("#live"))
	b.until(`document.getElementById("pause").textContent === "Not updating"`)
	b.moves(1)
	b.staysAt("1")
	b.do(chromedp.Reload())
	b.until(`"ready" in document.documentElement.dataset && !document.getElementById("live").checked`)
	b.do(chromedp.Click("#live"))
	b.moves(1)
	b.until(firstRow + `.dataset.key === "` + sampleQueueRow(3).ID + `"`)
}

// keyboardKeeps is in a row when another takes its place.
func keyboardKeeps(b *tab) {
	b.open("/queue")
	row := `document.querySelector("#rows tr[data-key='` + sampleQueueRow(4).ID + `']")`
	b.script(row + `.querySelector("[data-act=remove]").focus()`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(`document.querySelector("dialog[open] h2").textContent.startsWith("Remove ")`)
	b.moves(1)
	b.do(chromedp.Click("dialog .primary"))
	b.until(`document.getElementById("toasts").textContent.includes("removed from the line")`)
	b.until(row + `.querySelector("b").textContent === "3" && document.activeElement === ` + row + `.querySelector("[data-act=remove]")`)
	if got := b.called(); !strings.Contains(got, `POST /api/queue/kick {"id":"`+sampleQueueRow(4).ID+`","ban":false}`) {
		b.t.Errorf("the API was called with\n%s", got)
	}
}

func connectionLost(b *tab) {
	b.open("/queue")
	b.change(func() { b.broken = true })
	b.until(`document.getElementById("pause").textContent.includes("cannot be reached") && document.body.classList.contains("stale")`)
	b.change(func() { b.broken = false })
	b.until(`document.getElementById("pause").hidden && !document.body.classList.contains("stale")`)
}

func rowsOpen(b *tab) {
	b.open("/visitors")
	b.script(`document.querySelector(".expander").focus()`)
	b.do(chromedp.KeyEvent(" "))
	b.until(`document.querySelector("#rows > .detail").textContent.includes("218785.203.0.113.0/24") && document.querySelector(".expander").getAttribute("aria-expanded") === "true"`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(`!document.querySelector("#rows > .detail") && document.querySelector(".expander").getAttribute("aria-expanded") === "false"`)
	b.open("/banlog")
	b.do(chromedp.Click(".expander"))
	b.until(`document.querySelector("#rows > .detail").textContent.includes("/.git/config")`)
}

func badgesAreCopied(b *tab) {
	b.open("/bans")
	b.until(`document.querySelector("#rows tr[data-key='198.51.100.0/24'] .flag").title === "Germany"`)
	b.script(`document.querySelector("#rows tr[data-key='198.51.100.0/24'] .badge:last-child").focus()`)
	b.until(`document.activeElement.textContent === "8" && document.activeElement.title.includes("64500.198.51.100.77")`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(`document.getElementById("toasts").textContent.includes("Copied 0.0.251.244.198.51.100.77") && document.activeElement.textContent === "8"`)
}

func chartsByKeyboard(b *tab) {
	b.open("/")
	b.until(`document.querySelectorAll(".plot svg .line").length === 11`)
	b.script(`document.querySelector(".plot").focus()`)
	b.do(chromedp.KeyEvent(kb.Home))
	b.until(`document.querySelector(".plot").getAttribute("aria-valuenow") === document.querySelector(".plot").getAttribute("aria-valuemin") && document.querySelector(".plot").getAttribute("aria-valuetext").includes(", cap 40")`)
	b.until(`document.querySelectorAll(".plot .cursor").length >= 6`) // through all of them
	// Time goes on, and takes what is oldest with it.
	b.script(`window.oldest = Number(document.querySelector(".plot").getAttribute("aria-valuemin"))`)
	b.until(`document.querySelector(".plot").getAttribute("aria-valuemin") > window.oldest`)
	b.until(`document.querySelectorAll(".plot .cursor").length >= 6 && document.querySelector(".plot").getAttribute("aria-valuenow") === document.querySelector(".plot").getAttribute("aria-valuemin")`)
	b.do(chromedp.KeyEvent(kb.Escape))
	b.until(`document.querySelectorAll(".plot .cursor").length === 0`)
	b.point(".plot")
	b.until(`document.querySelectorAll(".plot .cursor").length === 6 && document.querySelector(".legend .at").textContent.length === 8`)
}

// chartsWithoutColor wants lines of one chart to differ in their strokes, and
// to be named.
func chartsWithoutColor(b *tab) {
	b.open("/")
	b.until(`[...document.querySelectorAll(".chart")].every(c => {
		const strokes = [...c.querySelectorAll(".plot .line")].map(l => getComputedStyle(l).strokeDasharray);
		return strokes.length > 0 && new Set(strokes).size === strokes.length && c.querySelectorAll(".plot .name").length === strokes.length;
	})`)
	b.do(chromedp.Click(".as-table summary"))
	b.until(`document.querySelectorAll("#series-table tbody tr").length >= 12`)
}

// chartsOfAQuietRoom wants the lines of an axis to have values of their own,
// however small.
func chartsOfAQuietRoom(b *tab) {
	b.open("/")
	b.until(`document.querySelectorAll(".plot svg .line").length === 11`)
	b.script(`import("/assets/js/charts.js").then(charts => {
		const series = {step_ms: 5000, at: [Date.now() - 5000, Date.now()], refused: {}};
		for (const name of ["in_flight", "cap", "waiting", "admissions", "wait_p50", "wait_p95", "origin_p50", "origin_p95"]) series[name] = [0, 0];
		charts.draw(series);
		const axes = [...document.querySelectorAll(".plot")].map(p => [...p.querySelectorAll("text[text-anchor=end]")].map(t => t.textContent));
		document.title = axes.length === 6 && axes.every(a => a.length === 3 && new Set(a).size === 3) ? "distinct" : JSON.stringify(axes);
	})`)
	b.until(`document.title === "distinct"`)
}

func markupStaysText(b *tab) {
	b.script(`window.alert = () => { document.title = "it ran"; }`)
	for _, path := range []string{"/queue?find=x", "/bans", "/visitors?open=x", "/banlog?open=x", "/access"} {
		b.open(path)
		b.until(`document.body.textContent.includes("<img src=x onerror=alert(1)>") && !document.querySelector("main img, dialog img, main script")`)
	}
	b.until(`document.title !== "it ran"`)
}

func viewerChangesNothing(b *tab) {
	b.change(func() { b.frame.Viewer = true })
	b.open("/queue")
	b.script(`document.querySelector("#rows [data-act=remove]").focus()`)
	b.do(chromedp.KeyEvent("\r"))
	b.until(`document.getElementById("toasts").textContent.includes("viewers change nothing") && !document.querySelector("dialog")`)
	for _, path := range []string{"/", "/queue", "/bans", "/visitors", "/settings", "/access"} {
		b.open(path)
		b.until(`[...document.querySelectorAll("[data-act]")].every(e => e.getAttribute("aria-disabled") === "true" && document.getElementById(e.getAttribute("aria-describedby")))`)
	}
	if got := b.called(); got != "" {
		b.t.Errorf("the API was called with\n%s", got)
	}
}

func lessMotion(b *tab) {
	b.prefers("prefers-reduced-motion", "reduce")
	b.open("/queue")
	b.script(`Element.prototype.animate = () => { document.title = "it moved"; }`)
	b.moves(1)
	b.until(`document.querySelector("#rows tr.leaving .way") !== null`)
	b.until(`document.title !== "it moved"`)
}

// withoutScripts reads, pages and opens rows by plain links.
func withoutScripts(b *tab) {
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	if err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate(b.URL+"/queue"), chromedp.Click("#pager [rel=next]"), chromedp.WaitVisible("#pager [rel=prev]"))
	b.until(firstRow + `.textContent.includes("26")`)
	b.do(chromedp.Navigate(b.URL+"/visitors"), chromedp.Click(".expander"), chromedp.WaitVisible("#rows > .detail"))
}
