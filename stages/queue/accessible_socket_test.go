package queue

import (
	_ "embed"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/internal/parts/chromium"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

//go:embed testdata/accessible.js
var accessible string

// TestAccessible goes through what the pages can look like, in light and dark,
// wide and narrow, and in both directions of writing.
func TestAccessible(t *testing.T) {
	browser := chromium.Start(t)
	views := []struct {
		name, language, scheme string
		width                  int64
	}{
		{"desktop, light", "en", "light", 1280},
		{"phone, dark", "de", "dark", 320},
		{"right to left, light", "ar", "light", 320},
		{"right to left, dark", "ar", "dark", 1280},
	}
	states := []struct {
		name  string
		reach func(p *tab)
	}{
		{"waiting", func(*tab) {}},
		{"in trouble", func(p *tab) {
			p.script(`for (const id of ["reason", "trouble", "denied"]) { $(id).hidden = false; $(id).textContent = words["js.offline"]; }`)
		}},
		{"with the menu open", func(p *tab) { p.script(`document.querySelector(".languages").open = true`) }},
		{"about to leave", func(p *tab) { p.script(`document.querySelector("#waiting details").open = true`) }},
		{"admitted in another tab", func(p *tab) { p.hear("turn") }},
		{"left", func(p *tab) { p.hear("left") }},
		{"without cookies", func(p *tab) { p.do(chromedp.Navigate(p.url + returnPath + "?to=/shop")) }},
		{"farewell", func(p *tab) { p.do(chromedp.Navigate(p.url + LeavePath)) }},
	}
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel() // the browser does the work
			p := openTab(t, browser)
			p.decorate()
			p.fill()
			p.speaks(v.language)
			p.prefers("prefers-color-scheme", v.scheme, "prefers-reduced-motion", "reduce") // no color is on its way to another
			for _, s := range states {
				p.forgetful.Store(s.name == "without cookies")
				p.do(chromedp.EmulateViewport(v.width, 800), chromedp.Navigate(p.url+"/shop"))
				p.until(`document.readyState === "complete"`)
				s.reach(p)
				problems, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](accessible))
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

// TestAccessibleSeesWhatIsWrong shows the checks a page that fails them.
func TestAccessibleSeesWhatIsWrong(t *testing.T) {
	browser := chromium.Start(t)
	p := openTab(t, browser)
	p.change(func(c *Config) {
		c.HTML = []byte(`<html><meta name=viewport content="user-scalable=no"><title> </title>
<div style="width:2000px"><h2 id=a>x</h2><h4 id=a style="color:#888">x</h4><a href=x aria-describedby=none></a><img src="data:,">
<button style="outline:none;border-color:#eee">x</button><fieldset></fieldset><div tabindex=3>x</div><div role=status aria-live=assertive></div></div>`)
	})
	p.fill()
	p.do(chromedp.Navigate(p.url))
	for _, rule := range []string{"3.1.1", "2.4.2", "1.4.4", "1.4.10", "4.1.1", "1.3.1 there is not one main part", "1.3.1 a heading of level 4", "4.1.2",
		"1.1.1", "2.5.8", "2.4.7", "1.3.1 it has no legend", "1.3.1 it names", "2.4.3", "4.1.3", "1.4.3", "1.4.11"} {
		p.until(`(` + accessible + `).includes("` + rule + `")`)
	}
}

// decorate gives the page everything an operator can give it, in a color that
// cannot be read as it is.
func (p *tab) decorate() {
	p.t.Helper()
	message, err := notice.Parse("Doors open at ten. | de=Einlass ab zehn.")
	if err != nil {
		p.t.Fatal(err)
	}
	p.change(func(c *Config) {
		c.Look = page.Look{
			Name: "Café Nord", Color: "#ffd23f", Message: message, Warning: true,
			Logo: []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4"/></svg>`),
		}
	})
}

// script runs code on the page that knows its words.
func (p *tab) script(code string) {
	p.t.Helper()
	p.until(`(() => { const $ = id => document.getElementById(id), words = JSON.parse($("words").textContent); ` + code + `; return true; })()`)
}

// hear has the page hear from another tab.
func (p *tab) hear(what string) {
	p.t.Helper()
	p.script(`new BroadcastChannel("concert.line").postMessage({joined: $("room").dataset.joined, what: "` + what + `"})`)
	p.until(`document.getElementById("waiting").hidden`)
}
