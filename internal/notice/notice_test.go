package notice

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/language"
)

func TestParse(t *testing.T) {
	tests := []struct{ text, en, de, ar string }{
		{"", "", "", ""},
		{"  ", "", "", ""},
		{" Soon. ", "Soon.", "Soon.", "Soon."},
		{"Soon. | de = Bald. |ar=قريبا", "Soon.", "Bald.", "قريبا"},
		{"DE=Bald.|Soon.", "Soon.", "Bald.", "Soon."},
		{"en=Now.|Soon.", "Now.", "Soon.", "Soon."},
		{"a=b", "a=b", "a=b", "a=b"},
	}
	for _, tt := range tests {
		n, err := Parse(tt.text)
		if err != nil || n[language.English] != tt.en || n[language.German] != tt.de || n[language.Arabic] != tt.ar {
			t.Errorf("%q: %q, %v", tt.text, n, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ text, want string }{
		{"de=Bald.", "no wording for languages that are not named"},
		{"a|b", "two wordings"},
		{"a|de=b|de=c", "two wordings"},
		{"a|", "empty wording"},
		{"a|de=", "empty wording"},
		{"a\nb", "control character"},
		{"a\xff", "UTF-8"},
		{strings.Repeat("ü", maxText+1), "401 characters"},
	}
	for _, tt := range tests {
		if n, err := Parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) || n != (Notice{}) {
			t.Errorf("%q: %q, error %v, want %q", tt.text, n, err, tt.want)
		}
	}
	if _, err := Parse(strings.Repeat("ü", maxText)); err != nil {
		t.Errorf("the longest text: %v", err)
	}
}
