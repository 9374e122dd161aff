package pipeline

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/language"
)

func refused(t *testing.T, f *Refusal, accept string) *httptest.ResponseRecorder {
	t.Helper()
	stage := stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, f }}
	return get(build(t, originFunc(ok), stage), "Accept", accept)
}

func TestEveryReasonHasOneCompleteRow(t *testing.T) {
	codes := map[string]Reason{}
	for r := NotRefused + 1; r < NumReasons; r++ {
		w := reasons[r]
		if other, taken := codes[w.code]; w.code == "" || taken {
			t.Errorf("reason %d: code %q is empty or that of reason %d", r, w.code, other)
		}
		codes[w.code] = r
		if w.status < 400 {
			t.Errorf("%s: status %d", w.code, w.status)
		}
		silent := w.terse || r == ClientGone
		if (w.text == Text{}) != silent || !silent && (w.text.Title == "" || w.text.Body == "" || w.text.Error == "") {
			t.Errorf("%s: the texts must be complete, or absent when nothing is written", w.code)
		}
		if (w.status == 429 || w.status == 503) && w.retry == 0 {
			t.Errorf("%s: %d without Retry-After", w.code, w.status)
		}
	}
}

func TestEveryRefusalIsWellFormed(t *testing.T) {
	for r := NotRefused + 1; r < NumReasons; r++ {
		if r == ClientGone {
			continue
		}
		for _, accept := range []string{"text/html", "application/json"} {
			t.Run(r.Code()+" "+accept, func(t *testing.T) {
				w := refused(t, &Refusal{Reason: r}, accept)
				h := w.Header()
				if w.Code != r.Status() || h.Get("Cache-Control") != "no-store" {
					t.Fatalf("%d, Cache-Control %q", w.Code, h.Get("Cache-Control"))
				}
				if h.Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
					t.Errorf("Content-Length %q for %d bytes", h.Get("Content-Length"), w.Body.Len())
				}
				if reasons[r].terse {
					return
				}
				checkForm(t, r, accept, w)
			})
		}
	}
}

func checkForm(t *testing.T, r Reason, accept string, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	if !strings.HasPrefix(w.Header().Get("Content-Type"), accept) {
		t.Errorf("Content-Type %q", w.Header().Get("Content-Type"))
	}
	if accept == "text/html" {
		for _, want := range []string{"<!doctype html>", `lang="en"`, "<title>", "</html>"} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %q:\n%s", want, body)
			}
		}
		return
	}
	var fields map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &fields); err != nil {
		t.Fatalf("%v in %q", err, body)
	}
	if fields["error"] != reasons[r].text.Error {
		t.Errorf("error = %v", fields["error"])
	}
}

func TestRetryAfterIsTheSameInHeaderAndBody(t *testing.T) {
	w := refused(t, &Refusal{Reason: LineFull, RetryAfter: 6500 * time.Millisecond}, "application/json")
	if got := w.Header().Get("Retry-After"); got != "7" {
		t.Fatalf("Retry-After %q, want 6.5 s rounded up", got)
	}
	if want := `{"error":"waiting room is full","queued":false,"retry_after_seconds":7}`; strings.TrimSpace(w.Body.String()) != want {
		t.Fatalf("body %s, want %s", w.Body, want)
	}
}

func TestFullPageTriesAgainByItself(t *testing.T) {
	w := refused(t, &Refusal{Reason: LineFull, RetryAfter: 9 * time.Second}, "text/html")
	if !strings.Contains(w.Body.String(), `http-equiv="refresh" content="9"`) {
		t.Fatalf("no refresh in %s", w.Body)
	}
}

func TestTextsCanBeReplaced(t *testing.T) {
	p, err := New(Config{
		Resolver: clientip.NewResolver(nil), Origin: originFunc(ok), Renderer: NewRenderer(map[Reason]Text{LineFull: {Title: "Ausverkauft & <voll>"}}),
	}, stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: LineFull} }})
	if err != nil {
		t.Fatal(err)
	}
	body := get(p, "Accept", "text/html").Body.String()
	if !strings.Contains(body, "Ausverkauft &amp; &lt;voll&gt;") || !strings.Contains(body, LineFull.DefaultText().Body) {
		t.Fatalf("title not replaced and escaped, or body lost:\n%s", body)
	}
}

func TestTheWaitIsNamedInWords(t *testing.T) {
	f := func(wait time.Duration, want string) {
		t.Helper()
		body := refused(t, &Refusal{Reason: Banned, RetryAfter: wait}, "text/html").Body.String()
		if !strings.Contains(body, "come back in "+want+".</p>") {
			t.Errorf("%v: no %q in %s", wait, want, body)
		}
	}
	f(time.Millisecond, "1 second")
	f(119*time.Second, "119 seconds")
	f(121*time.Second, "3 minutes")
	f(5*time.Minute, "5 minutes")
	f(2*time.Hour+time.Second, "3 hours")
	f(24*time.Hour, "24 hours")
	f(49*time.Hour, "3 days")
}

func TestMarksInReplacedTexts(t *testing.T) {
	r := NewRenderer(map[Reason]Text{LineFull: {Body: "<{seconds}> s, {wait}; {seconds}"}, Busy: {Body: "{wait}"}})
	var b []byte
	for _, p := range r.html[language.English][LineFull] {
		b = append(b, p.text...)
		b = append(b, [...]string{nothing: "", asSeconds: "S", asWords: "W"}[p.then]...)
	}
	if !strings.Contains(string(b), `content="S">`) || !strings.Contains(string(b), "<p>&lt;S&gt; s, W; S</p></main>") {
		t.Errorf("marks are not replaced: %s", b)
	}
}

func TestRefusingWithAWaitOfItsOwnAllocatesNothing(t *testing.T) {
	p := build(t, originFunc(ok), stub{"refuse", AllClasses, func(v *Visit) (Verdict, error) {
		return Answered, v.Refuse(Banned, 24*time.Hour)
	}})
	req := httptest.NewRequest("GET", "/shop", nil)
	w := &nullWriter{header: http.Header{}}
	p.ServeHTTP(w, req)
	if got := w.header.Get("Retry-After"); got != "86400" {
		t.Fatalf("Retry-After %q, want 86400", got)
	}
	if n := allocs.PerRun(1000, func() { p.ServeHTTP(w, req) }); n != 0 {
		t.Errorf("%v allocations per refusal", n)
	}
}

func TestRefusingAllocatesNothing(t *testing.T) {
	full := &Refusal{Reason: LineFull}
	p := build(t, originFunc(ok), stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, full }})
	for _, accept := range []string{"text/html", "application/json"} {
		req := httptest.NewRequest("GET", "/shop", nil)
		req.Header.Set("Accept", accept)
		w := &nullWriter{header: http.Header{}}
		p.ServeHTTP(w, req)
		if n := allocs.PerRun(1000, func() { p.ServeHTTP(w, req) }); n != 0 {
			t.Errorf("%s: %v allocations per refusal", accept, n)
		}
	}
}

func TestWhoShowsPages(t *testing.T) {
	f := func(destination, mode string, want Destination, html bool) {
		t.Helper()
		r := &http.Request{Header: http.Header{"Accept": {"text/html"}, "Sec-Fetch-Mode": {mode}}}
		if destination != "absent" {
			r.Header["Sec-Fetch-Dest"] = []string{destination}
		}
		if got := DestinationOf(r); got != want {
			t.Errorf("%s, %s: destination %d, want %d", destination, mode, got, want)
		}
		if got := WantsHTML(r); got != html {
			t.Errorf("%s, %s: wants HTML %v", destination, mode, got)
		}
	}
	f("absent", "navigate", Opened, true)
	f("", "navigate", Opened, true)
	f("document", "navigate", Opened, true)
	f("iframe", "navigate", Opened, true)
	f("frame", "navigate", Opened, true)
	f("empty", "cors", Read, false)
	f("empty", "", Read, false)
	f("empty", "navigate", Opened, true) // passed on by a service worker
	f("image", "no-cors", Built, false)
	f("hologram", "navigate", Built, false)
}
