package page

import (
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/branding"
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
)

const someLogo = `<svg xmlns="http://www.w3.org/2000/svg"/>`

func mustLook(t *testing.T) Look {
	t.Helper()
	message, err := notice.Parse("<Soon> {{.Position}} | de=Bald.")
	if err != nil {
		t.Fatal(err)
	}
	return Look{Name: `<Café> {{.ETASeconds}} {{style}}`, Logo: []byte(someLogo), Color: "#ffee00", Message: message, Warning: true}
}

func TestLook(t *testing.T) {
	set, err := BuiltIn(mustLook(t))
	if err != nil {
		t.Fatal(err)
	}
	got := string(set.In(language.English).Append(nil, visitor()))
	const name = `&lt;Café&gt; &#123;&#123;.ETASeconds}} &#123;&#123;style}}`
	for _, want := range []string{
		`<title>You are in line · ` + name + `</title>`,
		`data-suffix=" · ` + name + `"`,
		`<span dir="auto">` + name + `</span>`,
		`<img alt="" src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=">`,
		`class="note warning" role="status"><strong id="message-label">Important</strong> <span id="message-text" dir="auto">&lt;Soon&gt; &#123;&#123;.Position}}</span>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := string(set.In(language.German).Append(nil, visitor())); !strings.Contains(got, `>Bald.<`) {
		t.Error("the German page lacks the German message")
	}
}

// TestColorIsReadable reads the accents from the style, in the order a browser
// would find them.
func TestColorIsReadable(t *testing.T) {
	look := mustLook(t)
	style, err := look.style()
	if err != nil {
		t.Fatal(err)
	}
	accents := regexp.MustCompile(`--accent:(#[0-9a-f]{6})`).FindAllStringSubmatch(style, -1)
	if len(accents) != 2 {
		t.Fatalf("style %s", style)
	}
	for i, card := range []string{lightCard, darkCard} {
		accent, err := branding.ParseColor(accents[i][1])
		back, err2 := branding.ParseColor(card)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if ratio := branding.Contrast(accent, back); ratio < branding.MinContrast {
			t.Errorf("%v on %v has a contrast of %.2f", accent, back, ratio)
		}
	}
}

// TestCardsAreTheStyles compares the colors that brands are measured against
// with the ones the style has.
func TestCardsAreTheStyles(t *testing.T) {
	css, err := assets.ReadFile("waiting.css")
	if err != nil {
		t.Fatal(err)
	}
	cards := regexp.MustCompile(`--card:(#[0-9a-f]{6})`).FindAllStringSubmatch(string(css), -1)
	if len(cards) != 2 || cards[0][1] != lightCard || cards[1][1] != darkCard {
		t.Errorf("cards %v, want %s and %s", cards, lightCard, darkCard)
	}
}

// TestLookKeepsThePolicy computes the hash from the page with a brand.
func TestLookKeepsThePolicy(t *testing.T) {
	set, err := BuiltIn(mustLook(t))
	if err != nil {
		t.Fatal(err)
	}
	p := set.In(language.Korean)
	_, rest, _ := strings.Cut(string(p.Append(nil, visitor())), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	if !strings.Contains(style, "--accent:#") || !strings.Contains(p.Policy(), "style-src "+hash(style)) {
		t.Errorf("policy %s", p.Policy())
	}
}

func TestBadLooks(t *testing.T) {
	for _, look := range []Look{{Color: "red"}, {Logo: []byte("text")}} {
		if look.Check() == nil {
			t.Errorf("%+v is taken", look)
		}
		if _, err := Farewell(look); err == nil {
			t.Errorf("%+v makes a page", look)
		}
	}
}

func TestLanguageSwitch(t *testing.T) {
	set := mustBuiltIn(t)
	for _, in := range language.All() {
		got := string(set.In(in).Append(nil, visitor()))
		if n := strings.Count(got, `<a href="/queue/return?lang=`); n != language.Count {
			t.Errorf("%s: %d languages to pick", in.Code(), n)
		}
		if want := `lang="` + in.Code() + `" hreflang="` + in.Code() + `"`; strings.Count(got, `aria-current="true"`) != 1 || !strings.Contains(got, want) {
			t.Errorf("%s: the page does not say which it is", in.Code())
		}
	}
}

func TestExport(t *testing.T) {
	for _, l := range language.All() {
		html, err := Export(l, Look{})
		if err != nil {
			t.Fatal(err)
		}
		left := regexp.MustCompile(`\{\{[^}]*\}\}`).FindAllString(string(html), -1)
		for _, mark := range left {
			if mark != "{{.Position}}" && mark != "{{.SkipURL}}" { // those of custom pages
				t.Errorf("%s: %s is left", l.Code(), mark)
			}
		}
		got := string(Custom(html).In(l).Append(nil, visitor()))
		for _, want := range []string{`<html lang="` + l.Code() + `"`, `id="position">1234<`, `data-position="1234"`, `content="10"`, `data-joined=""`} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: the page lacks %s", l.Code(), want)
			}
		}
		if strings.Contains(got, "/queue/return") {
			t.Errorf("%s: a page in one language offers others", l.Code())
		}
	}
}

func TestDense(t *testing.T) {
	const code = "// why\n\"use strict\";\n(() => {\n\t// this\n\tconst a = \"//b\"; // kept\n\t\tf();\n})();"
	const want = "\"use strict\";\n(() => {\nconst a = \"//b\"; // kept\nf();\n})();"
	if got := dense(code); got != want {
		t.Errorf("got %q", got)
	}
}
