package page

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/language"
)

func mustWords(tb testing.TB, l language.Language) words {
	tb.Helper()
	w, err := loadWords(l)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// family returns the family a key belongs to and its form, as its name in CLDR.
func family(key string) (name, form string) {
	for _, f := range families {
		if form, ok := strings.CutPrefix(key, f+"."); ok && form != "none" {
			return f, form
		}
	}
	return "", ""
}

// plain returns a language's keys that are of no family.
func plain(w words) []string {
	var keys []string
	for key := range w {
		if f, _ := family(key); f == "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func TestEveryLanguageIsWhole(t *testing.T) {
	english := mustWords(t, language.English)
	for _, l := range language.All() {
		w := mustWords(t, l)
		want, have := plain(english), plain(w)
		for _, key := range want {
			if !slices.Contains(have, key) {
				t.Errorf("%s lacks %q", l.Code(), key)
			}
		}
		for _, key := range have {
			if !slices.Contains(want, key) {
				t.Errorf("%s has %q, which nothing uses", l.Code(), key)
			}
		}
		for _, f := range families {
			var need []string
			for _, form := range l.Plurals() {
				need = append(need, form.String())
			}
			var given []string
			for key := range w {
				if name, form := family(key); name == f {
					given = append(given, form)
				}
			}
			slices.Sort(need)
			slices.Sort(given)
			if !slices.Equal(need, given) {
				t.Errorf("%s: %s comes in %v, want %v", l.Code(), f, given, need)
			}
		}
		if w["lang"] != l.Code() || (w["dir"] == "rtl") != l.RightToLeft() {
			t.Errorf("%s calls itself %q, %q", l.Code(), w["lang"], w["dir"])
		}
	}
}

func TestEveryFileIsALanguage(t *testing.T) {
	files, err := fs.ReadDir(assets, "words")
	if err != nil || len(files) != language.Count {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if _, ok := language.Parse(strings.TrimSuffix(f.Name(), ".json")); !ok {
			t.Errorf("%s is in no known language", f.Name())
		}
	}
}

// TestWordsKeepTheirMarks compares the placeholders of each word with the
// English one's, and catches words that were not translated.
func TestWordsKeepTheirMarks(t *testing.T) {
	marks := regexp.MustCompile(`\{\w+\}`)
	english := mustWords(t, language.English)
	for _, l := range language.All() {
		if l == language.English {
			continue
		}
		same := 0
		for key, word := range mustWords(t, l) {
			like := key
			f, form := family(key)
			if f != "" {
				like = f + ".other"
			}
			got, want := marks.FindAllString(word, -1), marks.FindAllString(english[like], -1)
			slices.Sort(got)
			slices.Sort(want)
			inWords := l == language.Arabic && len(got) == 0 && (form == "zero" || form == "one" || form == "two")
			if !slices.Equal(got, want) && !inWords {
				t.Errorf("%s: %s holds %v, want %v", l.Code(), key, got, want)
			}
			if strings.TrimSpace(word) != word || word == "" || strings.ContainsAny(word, "<>") {
				t.Errorf("%s: %s is %q", l.Code(), key, word)
			}
			if word == english[key] {
				same++
			}
		}
		if same > 3 { // "ltr", and words that two languages share
			t.Errorf("%s: %d words are English", l.Code(), same)
		}
	}
}

// TestEveryWordIsUsed looks for each key where words are used.
func TestEveryWordIsUsed(t *testing.T) {
	var uses strings.Builder
	for _, pattern := range []string{"*.html", "parts/*.html", "*.js"} {
		names, err := fs.Glob(assets, pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := readAsset(name)
			if err != nil {
				t.Fatal(err)
			}
			uses.WriteString(text)
		}
	}
	inGo := []string{"language", "ahead.none", "eta.soon", "eta.unknown"}
	told := []string{"js.returned", "js.slower", "js.paused", "js.info", "js.warning"} // keys the script puts together
	for _, key := range plain(mustWords(t, language.English)) {
		if slices.Contains(inGo, key) || slices.Contains(told, key) {
			continue
		}
		if !strings.Contains(uses.String(), "{{t."+key+"}}") && !strings.Contains(uses.String(), `"`+key+`"`) {
			t.Errorf("nothing uses %q", key)
		}
	}
}

func TestFillNamesMissingWords(t *testing.T) {
	got, err := words{"lang": "xx", "a": `<"&>`}.fill("[{{t.a}}] {{t.b}} {{t.c-d}}")
	if err == nil || !strings.Contains(err.Error(), `"b"`) || !strings.Contains(err.Error(), `"c-d"`) {
		t.Errorf("error %v, want both missing keys named", err)
	}
	if !strings.HasPrefix(got, "[&lt;&#34;&amp;&gt;]") {
		t.Errorf("got %q, want the word escaped", got)
	}
}

func TestBlockCannotEndItsElement(t *testing.T) {
	got, err := words{"js.x": "</script><!--", "lead": "not for the script", "room.x": "nor this"}.block(false)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(got, "<>") || strings.Contains(got, "lead") || strings.Contains(got, "room") {
		t.Errorf("got %s", got)
	}
}
