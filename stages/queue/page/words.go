package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"regexp"
	"strings"

	"github.com/andreimerlescu/concert/internal/language"
)

// words is the wording of one language by key. A key that ends in the name of a
// plural form is one of a family; each language has the forms it needs.
type words map[string]string

// families are the keys that differ by a number.
var families = [...]string{"ahead", "eta.minutes", "eta.hours"}

// loadWords reads the wording of a language.
func loadWords(l language.Language) (words, error) {
	b, err := assets.ReadFile("words/" + l.Code() + ".json")
	if err != nil {
		return nil, fmt.Errorf("page: read words: %w", err)
	}
	var w words
	if err := json.Unmarshal(b, &w); err != nil {
		return nil, fmt.Errorf("page: read words of %s: %w", l.Code(), err)
	}
	return w, nil
}

// wordMark finds {{t.key}}.
var wordMark = regexp.MustCompile(`\{\{t\.([a-z.-]+)\}\}`)

// fill replaces {{t.key}} by the escaped word. An unknown key is an error.
func (w words) fill(document string) (string, error) {
	var problems []error
	filled := wordMark.ReplaceAllStringFunc(document, func(m string) string {
		key := strings.TrimSuffix(strings.TrimPrefix(m, "{{t."), "}}")
		word, known := w[key]
		if !known {
			problems = append(problems, fmt.Errorf("words of %q lack the key %q", w["lang"], key))
		}
		return html.EscapeString(word)
	})
	return filled, errors.Join(problems...)
}

// block is the script's share of the words, as JSON that is safe inside a
// script element: encoding/json escapes <, > and &. offSite adds what only the
// page of an off-site room says.
func (w words) block(offSite bool) (string, error) {
	share := maps.Clone(w)
	maps.DeleteFunc(share, func(key, _ string) bool {
		return (!offSite || !strings.HasPrefix(key, "room.")) && !strings.HasSuffix(key, "title") && !strings.HasPrefix(key, "js.") && !strings.HasPrefix(key, "eta.") && !strings.HasPrefix(key, "ahead.")
	})
	b, err := json.Marshal(share)
	if err != nil {
		return "", fmt.Errorf("page: encode words: %w", err)
	}
	return string(b), nil
}
