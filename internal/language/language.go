package language

import "strings"

// Language is one of the languages there are.
type Language uint8

// The languages, in the order a list shows them.
const (
	English Language = iota
	German
	French
	Spanish
	Portuguese
	Italian
	Dutch
	Polish
	Japanese
	Chinese // simplified
	Korean
	Arabic
	Count int = iota
)

// row is what is the same for everything said in a language.
type row struct {
	code string // BCP 47
	name string // in the language itself
	rtl  bool   // written from right to left
}

func table() [Count]row {
	return [...]row{
		English:    {code: "en", name: "English"},
		German:     {code: "de", name: "Deutsch"},
		French:     {code: "fr", name: "Français"},
		Spanish:    {code: "es", name: "Español"},
		Portuguese: {code: "pt", name: "Português"},
		Italian:    {code: "it", name: "Italiano"},
		Dutch:      {code: "nl", name: "Nederlands"},
		Polish:     {code: "pl", name: "Polski"},
		Japanese:   {code: "ja", name: "日本語"},
		Chinese:    {code: "zh-Hans", name: "简体中文"},
		Korean:     {code: "ko", name: "한국어"},
		Arabic:     {code: "ar", name: "العربية", rtl: true},
	}
}

// All returns the languages in the order a list shows them.
func All() [Count]Language {
	var all [Count]Language
	for i := range all {
		all[i] = Language(i)
	}
	return all
}

// Code returns the language's tag (BCP 47), as HTML and HTTP name it.
func (l Language) Code() string { return table()[l].code }

// Name returns what the language calls itself.
func (l Language) Name() string { return table()[l].name }

// RightToLeft reports whether the language is written from right to left.
func (l Language) RightToLeft() bool { return table()[l].rtl }

// Parse returns the language with that code; capitals make no difference.
func Parse(code string) (Language, bool) {
	for i, row := range table() {
		if strings.EqualFold(row.code, code) {
			return Language(i), true
		}
	}
	return English, false
}

// Codes returns the codes, separated by commas.
func Codes() string {
	var codes []string
	for _, row := range table() {
		codes = append(codes, row.code)
	}
	return strings.Join(codes, ", ")
}

// Negotiate picks the language for an Accept-Language header: the one with the
// highest weight, of equals the first (RFC 9110, section 12.5.4). A range fits
// by its primary subtag alone, so pt-BR gets Portuguese, and every kind of
// Chinese the simplified one rather than English. Nothing that fits gets
// English.
func Negotiate(lines []string) Language {
	best, weight := English, 0
	for _, line := range lines {
		for line != "" {
			var item string
			item, line, _ = strings.Cut(line, ",")
			tag, params, _ := strings.Cut(item, ";")
			l, ok := match(strings.TrimSpace(tag))
			if q := quality(params); ok && q > weight {
				best, weight = l, q
			}
		}
	}
	return best
}

// match finds the language of a range by its primary subtag.
func match(tag string) (Language, bool) {
	primary, _, _ := strings.Cut(tag, "-")
	for i, row := range table() {
		code, _, _ := strings.Cut(row.code, "-")
		if strings.EqualFold(code, primary) {
			return Language(i), true
		}
	}
	return English, false
}

// quality reads a weight in thousandths. What is no weight counts as the
// highest: the browser named the language.
func quality(params string) int {
	name, value, _ := strings.Cut(strings.TrimSpace(params), "=")
	value = strings.TrimSpace(value)
	if !strings.EqualFold(strings.TrimSpace(name), "q") || value == "" || value[0] != '0' {
		return 1000
	}
	q, unit := 0, 100
	for _, c := range []byte(strings.TrimPrefix(value[1:], ".")) {
		if c < '0' || c > '9' || unit == 0 {
			break
		}
		q += int(c-'0') * unit
		unit /= 10
	}
	return q
}
