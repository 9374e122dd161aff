package page

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/language"
)

func phrasesOf(tb testing.TB, l language.Language) *phrases {
	return newPhrases(l, mustWords(tb, l))
}

func TestEstimate(t *testing.T) {
	p := phrasesOf(t, language.English)
	tests := []struct {
		eta  time.Duration
		want string
	}{
		{-1, "cannot be told yet"},
		{0, "less than a minute"},
		{time.Nanosecond, "less than a minute"},
		{40 * time.Second, "less than a minute"},
		{41 * time.Second, "about 1–2 minutes"},
		{2 * time.Minute, "about 1–3 minutes"},
		{13*time.Minute + 20*time.Second, "about 10–20 minutes"},
		{14 * time.Minute, "about 10–25 minutes"},
		{time.Hour, "about 45–90 minutes"},
		{61 * time.Minute, "about 1–2 hours"},
		{10 * time.Hour, "about 7–15 hours"},
	}
	for _, tt := range tests {
		if got := string(p.appendEstimate(nil, Seconds(tt.eta))); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.eta, got, tt.want)
		}
	}
}

func TestPhrasesGoByTheNumber(t *testing.T) {
	ahead := func(l language.Language, n int64, want string) {
		t.Helper()
		if got := string(phrasesOf(t, l).appendAhead(nil, n)); got != want {
			t.Errorf("%s: %d ahead is %q, want %q", l.Code(), n, got, want)
		}
	}
	ahead(language.English, -1, "You are next")
	ahead(language.English, 0, "You are next")
	ahead(language.English, 1, "1 person ahead of you")
	ahead(language.English, 1233, "1233 people ahead of you")
	ahead(language.Polish, 1, "1 osoba przed Tobą")
	ahead(language.Polish, 3, "3 osoby przed Tobą")
	ahead(language.Polish, 12, "12 osób przed Tobą")
	ahead(language.Polish, 22, "22 osoby przed Tobą")
	ahead(language.French, 1_000_000, "1000000 de personnes devant vous")
	ahead(language.Arabic, 2, "شخصان أمامك")
	ahead(language.Arabic, 7, "7 أشخاص أمامك")
	ahead(language.Arabic, 100, "100 شخص أمامك")
	ahead(language.Japanese, 1, "前に 1 人")

	wait := func(l language.Language, eta time.Duration, want string) {
		t.Helper()
		if got := string(phrasesOf(t, l).appendEstimate(nil, Seconds(eta))); got != want {
			t.Errorf("%s: a wait of %v is %q, want %q", l.Code(), eta, got, want)
		}
	}
	wait(language.Polish, 2*time.Minute, "około 1–3 minuty")
	wait(language.Polish, 10*time.Minute, "około 7–15 minut")
	wait(language.Arabic, time.Minute, "من دقيقة إلى دقيقتين تقريبًا")
	wait(language.Arabic, 2*time.Minute, "حوالي 1–3 دقائق")
	wait(language.Dutch, 10*time.Hour, "ongeveer 7–15 uur")
}

func TestPhrasesAreEscaped(t *testing.T) {
	p := newPhrases(language.English, words{"ahead.none": "<b>", "ahead.other": "{n} & more", "eta.unknown": `"`})
	if got := string(p.appendAhead(p.appendAhead(p.appendEstimate(nil, -1), 0), 5)); got != "&#34;&lt;b&gt;5 &amp; more" {
		t.Errorf("got %q", got)
	}
}
