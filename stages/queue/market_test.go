package queue

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/line"
)

// stall sells each place at half a unit.
type stall struct{}

func (stall) Price(places, _ int) (each, total float64) { return 0.5, float64(places) / 2 }
func (stall) AppendRef(dst []byte, t line.Ticket) []byte {
	return append(dst, "ref-of-the-ticket"...)
}

func TestPricesInTheStatus(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), func(c *Config) { c.Market = stall{} })
	r.fill()
	first, second := ticketOf(r.do("GET", "/", html)), ticketOf(r.do("GET", "/", html))
	f := func(name string, want status, options ...option) {
		t.Helper()
		got := decode(t, r.do("GET", StatusPath, options...))
		if got.SkipCost != want.SkipCost || got.RatePerPos != want.RatePerPos || got.HasPass != want.HasPass {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	f("second", status{SkipCost: 0.5, RatePerPos: 0.5}, cookie(second))
	f("first", status{RatePerPos: 0.5}, cookie(first))
	third := ticketOf(r.do("GET", "/", html))
	f("with a pass", status{HasPass: true}, cookie(third), header("Test-Vip", "1"))
	free := newRig(t, newLine(oneSlot()), nil)
	free.fill()
	if got := free.do("GET", StatusPath, cookie(ticketOf(free.do("GET", "/", html)))).Body.String(); strings.Contains(got, "skip") || strings.Contains(got, "rate") {
		t.Errorf("with nothing for sale: %s", got)
	}
}

func TestSkipURLCarriesTheReference(t *testing.T) {
	f := func(skipURL, want string) {
		t.Helper()
		r := newRig(t, newLine(oneSlot()), func(c *Config) {
			c.Market, c.SkipURL, c.HTML = stall{}, skipURL, []byte(`{{.SkipURL}}`)
		})
		r.fill()
		if got := r.do("GET", "/", html).Body.String(); got != want {
			t.Errorf("%q: %q, want %q", skipURL, got, want)
		}
	}
	f("", "")
	f("/pay", "/pay?ref=ref-of-the-ticket")
	f("https://pay.example/?a=1", "https://pay.example/?a=1&ref=ref-of-the-ticket")
	f("/pay#top", "/pay?ref=ref-of-the-ticket#top")
}

func TestBuiltInPageLinksToThePayment(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), func(c *Config) { c.Market, c.SkipURL = stall{}, "/pay?a=1" })
	r.fill()
	body := r.do("GET", "/", html).Body.String()
	if !strings.Contains(body, `<a id="skip-link" href="/pay?a=1&amp;ref=ref-of-the-ticket">`) || !strings.Contains(body, `<section id="skip" hidden>`) {
		t.Error("the page has no hidden card with the link")
	}
}
