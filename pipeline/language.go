package pipeline

import (
	"net/http"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/internal/language"
)

// LanguageCookie holds the code of the language that a visitor picked.
const LanguageCookie = "concert_lang"

// LanguageOf is the language to speak to the sender of a request in: the one
// they picked, or else the one their browser asks for. It allocates nothing.
func LanguageOf(r *http.Request) language.Language {
	for code := range cookies.Each(r.Header, LanguageCookie) {
		if l, ok := language.Parse(code); ok {
			return l
		}
	}
	return language.Negotiate(r.Header["Accept-Language"])
}
