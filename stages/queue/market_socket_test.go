package queue

import "github.com/chromedp/chromedp"

// isOfferedTheFront sees a price and where to pay, as long as there is anybody
// to pay for skipping.
func isOfferedTheFront(p *tab) {
	p.change(func(c *Config) { c.Market, c.SkipURL = stall{}, "/pay?a=1" })
	p.fill()
	ahead := join(p.t, p.line)
	p.do(chromedp.Navigate(p.url))
	const card = `document.getElementById("skip")`
	p.until(`!` + card + `.hidden && document.getElementById("skip-text").textContent === "You can go to the front now. Price: 0.5."`)
	p.until(`document.getElementById("skip-link").getAttribute("href") === "/pay?a=1&ref=ref-of-the-ticket"`)
	p.quit(ahead)
	p.until(place + ` === "1" && ` + card + `.hidden`)
}
