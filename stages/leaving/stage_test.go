package leaving

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/pipeline"
)

func newStage(t *testing.T) *Stage {
	t.Helper()
	s, err := New(Config{Linger: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visit is a page request, and what it is answered with.
func visit(method, target, body string) (*pipeline.Visit, *httptest.ResponseRecorder) {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, "/", strings.NewReader(body))
	r.RequestURI = target
	return &pipeline.Visit{W: w, R: r, Class: pipeline.Page}, w
}

// TestSendsPagesOn: only while the process leaves, and only where that is safe.
func TestSendsPagesOn(t *testing.T) {
	s := newStage(t)
	f := func(method, target, body string, sent bool) {
		t.Helper()
		v, w := visit(method, target, body)
		verdict, err := s.Enter(v)
		if (verdict == pipeline.Answered) != sent || err != nil {
			t.Errorf("%s %s: %v, %v; want it sent on: %v", method, target, verdict, err, sent)
		}
		if sent && (w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != target || w.Header().Get("Cache-Control") != "no-store") {
			t.Errorf("%s %s: %d with %v", method, target, w.Code, w.Header())
		}
	}
	f("GET", "/shop?x=1", "", false)
	s.Leave(true)
	f("GET", "/shop?x=1", "", true)
	f("POST", "/order", "item=1", true)
	f("POST", "/order", strings.Repeat("x", maxResent), true)
	f("POST", "/order", strings.Repeat("x", maxResent+1), false)
	f("GET", "//evil.test/", "", false)
	f("GET", `/\evil.test/`, "", false)
	f("OPTIONS", "*", "", false)
	s.Leave(false)
	f("GET", "/shop?x=1", "", false)
}

func TestStreamsAndUnknownLengthsGoOn(t *testing.T) {
	s := newStage(t)
	s.Leave(true)
	upgrade, _ := visit("GET", "/chat", "")
	upgrade.R.Header.Set("Upgrade", "websocket")
	chunked, _ := visit("POST", "/order", "item=1")
	chunked.R.ContentLength = -1
	for _, v := range []*pipeline.Visit{upgrade, chunked} {
		if verdict, err := s.Enter(v); verdict != pipeline.Next || err != nil {
			t.Errorf("%s: %v, %v", v.R.RequestURI, verdict, err)
		}
	}
}

func TestConnectionsEndBehindTheirNextAnswer(t *testing.T) {
	s := newStage(t)
	h := s.Closing(http.NotFoundHandler())
	for _, leaves := range []bool{false, true, false} {
		s.Leave(leaves)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if closed := w.Header().Get("Connection") == "close"; closed != leaves || s.Leaves() != leaves {
			t.Errorf("leaves %v: connection closed: %v", leaves, closed)
		}
	}
}

func TestLinger(t *testing.T) {
	f := func(leaves bool, patience, want time.Duration) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			s.Leave(leaves)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			if s.Linger(ctx); time.Since(began) != want {
				t.Errorf("leaves %v with %v to go: it took %v, want %v", leaves, patience, time.Since(began), want)
			}
		})
	}
	f(false, time.Minute, 0)
	f(true, time.Minute, time.Second)
	f(true, time.Millisecond, time.Millisecond)
}

func TestRefusesConfig(t *testing.T) {
	if _, err := New(Config{Linger: -1}); err == nil || !strings.Contains(err.Error(), "leaving: ") {
		t.Errorf("%v: want the error to name the stage", err)
	}
}

func TestAllocs(t *testing.T) {
	s := newStage(t)
	v, _ := visit("GET", "/", "")
	if n := allocs.PerRun(1000, func() { _, _ = s.Enter(v) }); n != 0 {
		t.Errorf("%v allocations for a page that stays, want 0", n)
	}
}
