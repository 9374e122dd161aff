package pipeline

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/andreimerlescu/concert/internal/language"
)

// part is a piece of prepared output and what follows it.
type part struct {
	text []byte
	then insertion
}

// insertion is how the time of Retry-After is written into the output.
type insertion uint8

const (
	nothing   insertion = iota
	asSeconds           // 300
	asWords             // 5 minutes
)

// marks are the places in a body that the time is written to.
var marks = []struct {
	text string
	then insertion
}{{"{wait}", asWords}, {"{seconds}", asSeconds}}

// jsonForm prepares what programs are answered.
func jsonForm(w row, t Text) []part {
	js := fmt.Appendf(nil, `{"error":%s%s`, strconv.Quote(t.Error), w.fields)
	if w.retry > 0 {
		return []part{{fmt.Appendf(js, `,"retry_after_seconds":`), asSeconds}, {[]byte("}\n"), nothing}}
	}
	return []part{{append(js, "}\n"...), nothing}}
}

// htmlForm prepares what people are shown; said is the operator's message.
func htmlForm(w row, l language.Language, t Text, said string) (parts []part) {
	direction := "ltr"
	if l.RightToLeft() {
		direction = "rtl"
	}
	page := fmt.Appendf(nil, "<!doctype html>\n<html lang=\"%s\" dir=\"%s\"><head><meta charset=\"utf-8\">"+
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"+
		"<meta name=\"robots\" content=\"noindex\">", l.Code(), direction)
	if w.again {
		parts = []part{{append(page, `<meta http-equiv="refresh" content="`...), asSeconds}}
		page = []byte(`">`)
	}
	page = fmt.Appendf(page, "<title>%s</title><style>%s</style></head><body><main><h1>%s</h1><p>",
		html.EscapeString(t.Title), pageStyle, html.EscapeString(t.Title))
	end := "</p>"
	if said != "" {
		end += "<p class=\"said\">" + html.EscapeString(said) + "</p>"
	}
	return appendParts(parts, page, html.EscapeString(t.Body), end+"</main></body></html>\n")
}

// appendParts adds text to parts, the first with begin before it and the last
// with end behind it, divided at the marks.
func appendParts(parts []part, begin []byte, text, end string) []part {
	for {
		at, after, then := len(text), len(text), nothing
		for _, m := range marks {
			if i := strings.Index(text, m.text); i >= 0 && i < at {
				at, after, then = i, i+len(m.text), m.then
			}
		}
		begin = append(begin, text[:at]...)
		if then == nothing {
			return append(parts, part{append(begin, end...), then})
		}
		parts = append(parts, part{begin, then})
		begin, text = nil, text[after:]
	}
}

const pageStyle = `:root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;margin:0;display:grid;min-height:100vh;place-items:center;background:#fff;color:#1a1a1a}` +
	`main{max-width:34rem;padding:2rem}h1{font-size:1.5rem;line-height:1.25}.said{border-inline-start:.25rem solid;padding-inline-start:1rem}` +
	`@media(prefers-color-scheme:dark){body{background:#14161a;color:#ececec}}`
