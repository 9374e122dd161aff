// Package notice reads what an operator has to say to everybody in line: one
// text, and other wordings of it for some languages.
//
//	Sales start at ten.
//	Sales start at ten. | de=Der Verkauf beginnt um zehn. | ar=…
package notice

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/andreimerlescu/concert/internal/language"
)

// maxText is the most characters a wording may have: more would push what
// visitors look for off their screens.
const maxText = 400

// Notice is a text in every language; all empty when there is none.
type Notice [language.Count]string

// Parse reads a notice. A part that begins with a language's code and an equals
// sign is for that language, the one other part is for everybody else. Empty
// text is no notice.
func Parse(text string) (Notice, error) {
	var n Notice
	if strings.TrimSpace(text) == "" {
		return n, nil
	}
	general := ""
	for part := range strings.SplitSeq(text, "|") {
		l, words, special := wording(part)
		if err := check(words); err != nil {
			return Notice{}, err
		}
		into := &general
		if special {
			into = &n[l]
		}
		if *into != "" {
			return Notice{}, fmt.Errorf("has two wordings for the same readers, %q and %q", *into, words)
		}
		*into = words
	}
	if general == "" {
		return Notice{}, errors.New("has no wording for languages that are not named")
	}
	for l := range n {
		if n[l] == "" {
			n[l] = general
		}
	}
	return n, nil
}

// wording takes a part into its language and its words.
func wording(part string) (l language.Language, words string, special bool) {
	code, rest, found := strings.Cut(part, "=")
	if found {
		if l, special = language.Parse(strings.TrimSpace(code)); special {
			return l, strings.TrimSpace(rest), true
		}
	}
	return l, strings.TrimSpace(part), false
}

func check(words string) error {
	switch n := utf8.RuneCountInString(words); {
	case n == 0:
		return errors.New("has an empty wording")
	case n > maxText:
		return fmt.Errorf("has a wording of %d characters, want at most %d", n, maxText)
	case !utf8.ValidString(words):
		return errors.New("is not in UTF-8")
	case strings.ContainsFunc(words, unicode.IsControl):
		return errors.New("holds a line break or another control character")
	}
	return nil
}
