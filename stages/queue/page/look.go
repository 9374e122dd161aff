package page

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"strings"

	"github.com/andreimerlescu/concert/internal/branding"
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/paths"
)

// Look is what operators put of their own onto the built-in pages.
type Look struct {
	// Room is the inline room that the page is of; "" for the default one.
	Room string

	Name  string // of the site, at most branding.MaxName characters; empty: none
	Logo  []byte // a picture file, see branding.LogoType; nil: none
	Color string // #rrggbb, made readable where it is not; empty: Concert's own
	// Message is shown to everybody in line; Warning says that it is grave.
	Message notice.Notice
	Warning bool
}

// The card's colours in waiting.css, which text in the brand's colour is on.
const (
	lightCard = "#ffffff"
	darkCard  = "#181e26"
)

// Check reports everything that is wrong with the look.
func (l *Look) Check() error {
	var problems []error
	if err := branding.CheckName(l.Name); err != nil {
		problems = append(problems, fmt.Errorf("page: brand name %w", err))
	}
	if l.Logo != nil {
		if _, err := branding.LogoType(l.Logo); err != nil {
			problems = append(problems, fmt.Errorf("page: brand logo %w", err))
		}
	}
	if l.Color != "" {
		if _, err := branding.ParseColor(l.Color); err != nil {
			problems = append(problems, fmt.Errorf("page: brand color %w", err))
		}
	}
	return errors.Join(problems...)
}

// style returns the rules that bring the brand's colour into the page, in a
// shade that can be read on the card: one for light screens and one for dark.
func (l *Look) style() (string, error) {
	if l.Color == "" {
		return "", nil
	}
	var shades [2]branding.Color
	for i, card := range []string{lightCard, darkCard} {
		color, err := branding.ParseColor(l.Color)
		back, err2 := branding.ParseColor(card)
		if err := errors.Join(err, err2); err != nil {
			return "", fmt.Errorf("page: brand color: %w", err)
		}
		shades[i] = color.ReadableOn(back)
	}
	return fmt.Sprintf("\n:root{--accent:%v}@media(prefers-color-scheme:dark){:root{--accent:%v}}", shades[0], shades[1]), nil
}

// header is what stands above the card: the brand, and the other languages
// unless the page is to be in one only.
func (l *Look) header(in language.Language, w words, only, offSite bool) (string, error) {
	brand := ""
	if l.Logo != nil {
		kind, err := branding.LogoType(l.Logo)
		if err != nil {
			return "", fmt.Errorf("page: brand logo %w", err)
		}
		// The name beside it says the same, so the picture needs no words then.
		brand = `<img alt="" src="data:` + kind + ";base64," + base64.StdEncoding.EncodeToString(l.Logo) + `">`
	}
	if l.Name != "" {
		brand += `<span dir="auto">` + escape(l.Name) + "</span>"
	}
	if brand != "" {
		brand = `<p class="brand">` + brand + "</p>"
	}
	switch {
	case !only:
		switcher := paths.QueueReturn
		if offSite {
			switcher = "/" // the script adds which room
		}
		return "<header>" + brand + languages(in, w, switcher) + "</header>", nil
	case brand != "":
		return "<header>" + brand + "</header>", nil
	}
	return "", nil
}

// languages is the switch between them. It needs no script: each is a link
// to an address that remembers it and leads back.
func languages(in language.Language, w words, address string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<details class="languages"><summary><span class="unseen">%s: </span>%s</summary><ul>`, escape(w["language"]), in.Name())
	for _, l := range language.All() {
		dir, current := "ltr", ""
		if l.RightToLeft() {
			dir = "rtl"
		}
		if l == in {
			current = ` aria-current="true"`
		}
		fmt.Fprintf(&b, `<li><a href="%s?lang=%s" lang="%[2]s" hreflang="%[2]s" dir="%s"%s rel="nofollow">%s</a></li>`,
			address, l.Code(), dir, current, l.Name())
	}
	b.WriteString("</ul></details>")
	return b.String()
}

// level is the message's, as the class and in words' keys.
func (l *Look) level() string {
	if l.Warning {
		return "warning"
	}
	return "info"
}

// escape makes an operator's text safe in markup, and none of it a placeholder.
func escape(text string) string {
	return strings.ReplaceAll(html.EscapeString(text), "{", "&#123;")
}
