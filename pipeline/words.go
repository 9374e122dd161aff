package pipeline

import (
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/andreimerlescu/concert/internal/language"
)

// wordFiles hold the refusals' texts in every language but English, whose texts
// stand in the table of reasons, and how each language names a span of time:
//
//	"line-full.title": …   "line-full.body": …   "wait.minute.other": "{n} …"
//
//go:embed words/*.json
var wordFiles embed.FS

// wording is what refusals say in one language.
type wording struct {
	language language.Language
	texts    [NumReasons]Text
	waits    [len(spans)][language.NumPlurals]counted
}

// spans are the units of time that a wait is named in, longest first. A unit
// is used for more than two of it.
var spans = [...]struct {
	name    string
	seconds int
}{{"day", 24 * 60 * 60}, {"hour", 60 * 60}, {"minute", 60}, {"second", 1}}

// counted is a phrase around a number. Some languages have words for small
// numbers, and need none.
type counted struct {
	before, after string
	number        bool
}

// wordings are the words of all languages. They are part of the program, so
// that a fault in them is one of the program: it panics, and tests see it.
var wordings = sync.OnceValue(func() (all [language.Count]*wording) {
	for _, l := range language.All() {
		w, err := readWording(l)
		if err != nil {
			panic(err)
		}
		all[l] = w
	}
	return all
})

func readWords(l language.Language) (words map[string]string, err error) {
	b, err := wordFiles.ReadFile("words/" + l.Code() + ".json")
	if err == nil {
		err = json.Unmarshal(b, &words)
	}
	if err != nil {
		return nil, fmt.Errorf("pipeline: read the words of %s: %w", l.Code(), err)
	}
	return words, nil
}

func readWording(l language.Language) (*wording, error) {
	words, err := readWords(l)
	if err != nil {
		return nil, err
	}
	w := &wording{language: l}
	for reason := NotRefused + 1; reason < NumReasons; reason++ {
		row := reasons[reason]
		w.texts[reason] = merge(row.text, Text{Title: words[row.code+".title"], Body: words[row.code+".body"]})
	}
	for i, span := range spans {
		for _, form := range l.Plurals() {
			before, after, number := strings.Cut(words["wait."+span.name+"."+form.String()], "{n}")
			w.waits[i][form] = counted{before, after, number}
		}
	}
	return w, nil
}

// appendWait appends n seconds in the words people use, rounded up.
func (w *wording) appendWait(b []byte, n int) []byte {
	i := 0
	for i < len(spans)-1 && n <= 2*spans[i].seconds {
		i++
	}
	n = (n + spans[i].seconds - 1) / spans[i].seconds
	c := &w.waits[i][w.language.Plural(int64(n))]
	b = append(b, c.before...)
	if c.number {
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, c.after...)
}
