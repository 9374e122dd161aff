package page

import (
	"html"
	"strconv"
	"strings"

	"github.com/andreimerlescu/concert/internal/language"
)

// phrases are what a page says about a visitor's figures, ready to be put into
// markup. The script has the same words and follows the same rules.
type phrases struct {
	language            language.Language
	next, soon, unknown string
	ahead               plurals // {n}
	minutes, hours      plurals // {low} and {high}
}

// plurals is a phrase by the form its number asks for.
type plurals [language.NumPlurals]string

func newPhrases(l language.Language, w words) *phrases {
	word := func(key string) string { return html.EscapeString(w[key]) }
	family := func(key string) (p plurals) {
		for _, form := range l.Plurals() {
			p[form] = word(key + "." + form.String())
		}
		return p
	}
	return &phrases{
		language: l,
		next:     word("ahead.none"), soon: word("eta.soon"), unknown: word("eta.unknown"),
		ahead: family(families[0]), minutes: family(families[1]), hours: family(families[2]),
	}
}

// appendAhead says how many people are ahead.
func (p *phrases) appendAhead(dst []byte, n int64) []byte {
	if n < 1 {
		return append(dst, p.next...)
	}
	return appendFilled(dst, p.ahead[p.language.Plural(n)], "{n}", n)
}

// appendEstimate says how long the wait will be, as a range no narrower than
// what is known: three quarters to one and a half times the estimate. Seconds
// below zero mean that it cannot be told.
func (p *phrases) appendEstimate(dst []byte, seconds int64) []byte {
	low, high := seconds*3/4, (seconds*3+1)/2
	switch {
	case seconds < 0:
		return append(dst, p.unknown...)
	case high <= 60:
		return append(dst, p.soon...)
	case high <= 20*60:
		return p.appendRange(dst, &p.minutes, low, high, 60, 1)
	case high <= 90*60:
		return p.appendRange(dst, &p.minutes, low, high, 60, 5)
	}
	return p.appendRange(dst, &p.hours, low, high, 3600, 1)
}

// appendRange says seconds in a unit, rounded outwards to steps. The words go
// by the upper end.
func (p *phrases) appendRange(dst []byte, forms *plurals, low, high, unit, step int64) []byte {
	size := unit * step
	low, high = max(1, low/size*step), (high+size-1)/size*step
	pattern := forms[p.language.Plural(high)]
	before, rest, ranged := strings.Cut(pattern, "{low}")
	if !ranged {
		return append(dst, pattern...) // a dual, which says both ends in words
	}
	dst = append(dst, before...)
	dst = strconv.AppendInt(dst, low, 10)
	return appendFilled(dst, rest, "{high}", high)
}

// appendFilled appends a pattern with its mark, if it has one, replaced by n.
func appendFilled(dst []byte, pattern, mark string, n int64) []byte {
	before, after, found := strings.Cut(pattern, mark)
	dst = append(dst, before...)
	if !found {
		return dst
	}
	return append(strconv.AppendInt(dst, n, 10), after...)
}
