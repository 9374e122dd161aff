package pipeline

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
)

// neededWords are the keys a language's file has to have, and no others.
func neededWords(l language.Language) []string {
	var keys []string
	for r := NotRefused + 1; r < NumReasons; r++ {
		if l != language.English && reasons[r].text != (Text{}) {
			keys = append(keys, r.Code()+".title", r.Code()+".body")
		}
	}
	for _, span := range spans {
		for _, form := range l.Plurals() {
			keys = append(keys, "wait."+span.name+"."+form.String())
		}
	}
	return keys
}

func TestEveryLanguageHasEveryRefusal(t *testing.T) {
	for _, l := range language.All() {
		words, err := readWords(l)
		if err != nil {
			t.Fatal(err)
		}
		need := neededWords(l)
		for _, key := range need {
			if words[key] == "" {
				t.Errorf("words/%s.json lacks %q", l.Code(), key)
			}
		}
		for key := range words {
			if !slices.Contains(need, key) {
				t.Errorf("words/%s.json has %q, which nothing uses", l.Code(), key)
			}
		}
	}
}

// TestRefusalWordsKeepTheirMarks catches a lost place for the time, markup, and
// texts that were left in English.
func TestRefusalWordsKeepTheirMarks(t *testing.T) {
	marks := regexp.MustCompile(`\{\w+\}`)
	english := wordings()[language.English]
	for _, l := range language.All() {
		if l == language.English {
			continue
		}
		w := wordings()[l]
		for r := NotRefused + 1; r < NumReasons; r++ {
			got, want := w.texts[r], english.texts[r]
			if want == (Text{}) {
				continue
			}
			if !slices.Equal(marks.FindAllString(got.Body, -1), marks.FindAllString(want.Body, -1)) {
				t.Errorf("%s: %s: the body is %q", l.Code(), r.Code(), got.Body)
			}
			if got.Title == want.Title || got.Body == want.Body || strings.ContainsAny(got.Title+got.Body, "<>") {
				t.Errorf("%s: %s: %q, %q", l.Code(), r.Code(), got.Title, got.Body)
			}
			if got.Error != want.Error {
				t.Errorf("%s: %s: programs are told %q", l.Code(), r.Code(), got.Error)
			}
		}
	}
}

func TestWaitsInEveryLanguage(t *testing.T) {
	for l, want := range map[language.Language]string{
		language.English: "1 second|119 seconds|3 minutes|24 hours|3 days",
		language.German:  "1 Sekunde|119 Sekunden|3 Minuten|24 Stunden|3 Tage",
		language.Polish:  "1 sekunda|119 sekund|3 minuty|24 godziny|3 dni",
		language.Arabic:  "ثانية واحدة|119 ثانية|3 دقائق|24 ساعة|3 أيام",
		language.Korean:  "1초|119초|3분|24시간|3일",
	} {
		var got []string
		for _, n := range []int{1, 119, 121, 24 * 60 * 60, 49 * 60 * 60} {
			got = append(got, string(wordings()[l].appendWait(nil, n)))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %q, want %q", l.Code(), got, want)
		}
	}
}

func TestRefusalsSpeakTheVisitorsLanguage(t *testing.T) {
	banned := stub{"refuse", AllClasses, func(v *Visit) (Verdict, error) { return Answered, v.Refuse(Banned, 3*time.Minute) }}
	p := build(t, originFunc(ok), banned)
	f := func(accepted, lang, dir, contains string) {
		t.Helper()
		w := get(p, "Accept", "text/html", "Accept-Language", accepted)
		body := w.Body.String()
		if !strings.Contains(body, `lang="`+lang+`" dir="`+dir+`"`) || !strings.Contains(body, contains) {
			t.Errorf("%s: no %q in %s", accepted, contains, body)
		}
		if got := w.Header().Get("Vary"); !strings.Contains(got, "Accept-Language") {
			t.Errorf("Vary: %q", got)
		}
	}
	f("", "en", "ltr", "come back in 3 minutes.")
	f("de-CH, en;q=0.5", "de", "ltr", "3 Minuten")
	f("ar", "ar", "rtl", "3 دقائق")
	if body := get(p, "Accept", "text/html", "Accept-Language", "fr", "Cookie", LanguageCookie+"=de").Body.String(); !strings.Contains(body, `lang="de"`) {
		t.Errorf("the language that was picked is not used: %s", body)
	}
	f("tlh", "en", "ltr", "3 minutes")
	if body := get(p, "Accept", "application/json", "Accept-Language", "de").Body.String(); !strings.Contains(body, `"error":"temporarily blocked"`) {
		t.Errorf("programs are told %s", body)
	}
}

func TestMessageOnPagesPeopleStayOn(t *testing.T) {
	n, err := notice.Parse("Doors <open> at ten. | de=Um zehn geht es los.")
	if err != nil {
		t.Fatal(err)
	}
	plain := NewRenderer(nil)
	r := plain.Announcing(n)
	said := func(r *Renderer, l language.Language, reason Reason, text string) bool {
		var b []byte
		for _, p := range r.html[l][reason] {
			b = append(b, p.text...)
		}
		return strings.Contains(string(b), text)
	}
	if !said(r, language.French, LineFull, "Doors &lt;open&gt; at ten.") || !said(r, language.German, LineShut, "Um zehn geht es los.") {
		t.Error("the message is missing")
	}
	if said(r, language.English, OriginDown, "at ten") {
		t.Error("the message stands where it has no place")
	}
	if said(plain, language.English, LineFull, "at ten") {
		t.Error("the first renderer was changed")
	}
}
