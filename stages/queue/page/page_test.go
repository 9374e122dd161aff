package page

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/language"
)

func mustBuiltIn(tb testing.TB) *Set {
	tb.Helper()
	p, err := BuiltIn(Look{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func visitor() Values {
	return Values{Position: 1234, Ahead: 1233, ETA: 10 * time.Minute, PollAfter: 7300 * time.Millisecond,
		Joined: time.UnixMilli(1_700_000_000_123)}
}

func TestBuiltInShowsTheVisitorsFigures(t *testing.T) {
	got := string(mustBuiltIn(t).In(language.English).Append(nil, visitor()))
	for _, want := range []string{
		`id="position">1234<`,
		`id="ahead">1233 people ahead of you<`,
		`id="eta">about 7–15 minutes<`,
		`data-eta="600"`,
		`data-poll="7300"`,
		`data-joined="1700000000123"`,
		`<meta http-equiv="refresh" content="8">`,
		`/queue/status`,
		`<meta name="robots" content="noindex">`,
		`aria-live="polite"`,
		`What you need to do: nothing`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if i := strings.Index(got, "{{"); i >= 0 {
		t.Errorf("a placeholder is left: %q", got[i:i+30])
	}
}

func TestBuiltInLoadsNothingElse(t *testing.T) {
	got := string(mustBuiltIn(t).In(language.English).Append(nil, visitor()))
	for _, bad := range []string{"src=", "http://", "https://", "@import", "url(", "style=\"", "onclick"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page contains %s", bad)
		}
	}
}

// TestPolicyNamesWhatIsInThePage computes the hashes from the rendered text, as
// a browser does.
func TestPolicyNamesWhatIsInThePage(t *testing.T) {
	p := mustBuiltIn(t).In(language.English)
	got := string(p.Append(nil, visitor()))
	for _, element := range []struct{ open, end, directive string }{
		{"<style>", "</style>", "style-src"},
		{"<script>", "</script>", "script-src"},
	} {
		_, rest, found := strings.Cut(got, element.open)
		text, _, closed := strings.Cut(rest, element.end)
		if !found || !closed {
			t.Fatalf("no %s element", element.open)
		}
		sum := sha256.Sum256([]byte(text))
		want := element.directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.Contains(p.Policy(), want) {
			t.Errorf("policy %q lacks %s", p.Policy(), want)
		}
	}
}

func TestFarewellDoesNotLookLikeTheLine(t *testing.T) {
	set, err := Farewell(Look{})
	if err != nil {
		t.Fatal(err)
	}
	p := set.In(language.English)
	got := string(p.Append(nil, Values{}))
	if !strings.Contains(got, "You have left the line") {
		t.Error("the farewell does not say so")
	}
	if strings.Contains(got, "/queue/status") || strings.Contains(got, `id="position">`) {
		t.Error("the farewell carries a mark of the waiting page")
	}
	if strings.Contains(p.Policy(), "script-src") {
		t.Errorf("the farewell may run scripts: %s", p.Policy())
	}
}

func TestPositionIsAtLeastOne(t *testing.T) {
	got := string(mustBuiltIn(t).In(language.English).Append(nil, Values{Position: 0, Ahead: -1, ETA: -1, PollAfter: time.Second}))
	for _, want := range []string{`id="position">1<`, `id="ahead">You are next<`, `data-eta="-1"`, `cannot be told yet`, `content="3"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestCustom(t *testing.T) {
	tests := []struct{ name, html, skip, want string }{
		{"both", `<b>{{.Position}}</b><a href="{{.SkipURL}}">`, "/pay?a=1&b=2", `<b>7</b><a href="/pay?a=1&b=2">`},
		{"no skip", `[{{.SkipURL}}]`, "", `[]`},
		{"often", `{{.Position}}{{.Position}}`, "", `77`},
		{"in braces", `{{{.Position}}}`, "", `{7}`},
		{"others stay", `{{ .Position }} {{name}} {{.Ahead}} {{ {{.Position}} {{`, "", `{{ .Position }} {{name}} {{.Ahead}} {{ 7 {{`},
		{"none", `plain`, "x", `plain`},
		{"empty", ``, "", ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Custom([]byte(tt.html)).In(language.Polish)
			if got := string(p.Append(nil, Values{Position: 7, SkipURL: tt.skip})); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if p.Policy() != "" {
				t.Errorf("a custom page has the policy %q", p.Policy())
			}
		})
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	p, v := mustBuiltIn(t).In(language.English), visitor()
	buf := p.Append(nil, v)
	if n := allocs.PerRun(1000, func() { buf = p.Append(buf[:0], v) }); n != 0 {
		t.Errorf("%v allocations for each visitor", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	p, v := mustBuiltIn(b).In(language.English), visitor()
	buf := p.Append(nil, v)
	b.ReportAllocs()
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		buf = p.Append(buf[:0], v)
	}
}
