package language

import (
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

func TestNegotiate(t *testing.T) {
	f := func(want Language, lines ...string) {
		t.Helper()
		if got := Negotiate(lines); got != want {
			t.Errorf("%q: %s, want %s", lines, got.Code(), want.Code())
		}
	}
	f(English)
	f(English, "")
	f(English, "*")
	f(English, "tlh, x;q=0.5, *;q=0.1")
	f(German, "de")
	f(German, "DE-at")
	f(German, "de-CH-1996, fr;q=0.9")
	f(French, "de;q=0.8, fr")
	f(French, "de;q=0.8", "fr;q=0.9")
	f(German, "de;q=0.8, fr;q=0.8")
	f(Portuguese, "pt-BR,en;q=0.9")
	f(Chinese, "zh-CN,zh;q=0.9,en;q=0.8")
	f(Chinese, "zh-Hant-TW, en;q=0.1")
	f(Arabic, "ar-EG")
	f(Korean, "tlh, ko ; q=0.25 , en;q=0.249")
	f(English, "de;q=0")
	f(English, "de;q=0.000,en;q=0.001")
	f(Italian, "en;q=0.9,it;q=1.000")
	f(Dutch, "nl;level=1")
	f(Japanese, ",,;q=0.1,ja;q=0.5000001")
	f(English, "d", "germany", "enx;q=1")
}

func TestNegotiateAllocatesNothing(t *testing.T) {
	lines := []string{"tlh, x-own;q=0.9, zh-TW;q=0.8, en-US;q=0.7, en;q=0.6, ar;q=0.9"}
	if n := allocs.PerRun(100, func() { Negotiate(lines) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestParse(t *testing.T) {
	for _, l := range All() {
		if got, ok := Parse(l.Code()); got != l || !ok {
			t.Errorf("Parse(%s) = %s, %v", l.Code(), got.Code(), ok)
		}
		if l.Name() == "" {
			t.Errorf("%s has no name", l.Code())
		}
	}
	if l, ok := Parse("ZH-hans"); l != Chinese || !ok {
		t.Errorf("capitals: %s, %v", l.Code(), ok)
	}
	for _, code := range []string{"", "zh", "de-AT", "xx"} {
		if _, ok := Parse(code); ok {
			t.Errorf("%q was found", code)
		}
	}
}

func TestPlural(t *testing.T) {
	f := func(want Plural, l Language, ns ...int64) {
		t.Helper()
		for _, n := range ns {
			if got := l.Plural(n); got != want {
				t.Errorf("%s: %d is %v, want %v", l.Code(), n, got, want)
			}
		}
	}
	for _, l := range []Language{English, German, Dutch} {
		f(One, l, 1)
		f(Other, l, 0, 2, 11, 21, 101, 1_000_000)
	}
	for _, l := range []Language{French, Portuguese} {
		f(One, l, 0, 1)
		f(Other, l, 2, 21, 1_000_001)
		f(Many, l, 1_000_000, 3_000_000)
	}
	for _, l := range []Language{Spanish, Italian} {
		f(One, l, 1)
		f(Other, l, 0, 2, 21)
		f(Many, l, 1_000_000)
	}
	for _, l := range []Language{Japanese, Chinese, Korean} {
		f(Other, l, 0, 1, 2, 1_000_000)
	}
	f(One, Polish, 1)
	f(Few, Polish, 2, 3, 4, 22, 24, 102, 134)
	f(Many, Polish, 0, 5, 11, 12, 13, 14, 21, 25, 31, 100, 112, 114)
	f(Zero, Arabic, 0)
	f(One, Arabic, 1)
	f(Two, Arabic, 2)
	f(Few, Arabic, 3, 10, 103, 110)
	f(Many, Arabic, 11, 26, 99, 111)
	f(Other, Arabic, 100, 101, 102, 200, 1000)
}

// TestPluralsAreTheFormsThereAre compares the list with what the rules give.
// Whole numbers never get the form that Polish keeps for fractions.
func TestPluralsAreTheFormsThereAre(t *testing.T) {
	for _, l := range All() {
		var seen [NumPlurals]bool
		for n := range int64(1_000_001) {
			seen[l.Plural(n)] = true
		}
		for _, p := range l.Plurals() {
			if !seen[p] && (l != Polish || p != Other) {
				t.Errorf("%s: no number is %v", l.Code(), p)
			}
			seen[p] = false
		}
		for p, more := range seen {
			if more {
				t.Errorf("%s: the list lacks %v", l.Code(), Plural(p))
			}
		}
	}
}
