package fold

import (
	"strings"
	"testing"
)

func TestContainsIsThatOfSmallLetters(t *testing.T) {
	for _, s := range []string{"", "a", "/Shop/ITEM-4", "aab", "Mozilla/5.0 (X11; Linux)", "/stra\u00dfe/\u00c4rger", "\u0130x", "K\u212a"} {
		for _, text := range []string{"", "a", "ab", "item", "linux)", "\u00e4rger", "k", "x", "zz", strings.ToLower(s)} {
			if got, want := Contains(s, text), strings.Contains(strings.ToLower(s), text); got != want {
				t.Errorf("%q in %q: %v, want %v", text, s, got, want)
			}
		}
	}
}
