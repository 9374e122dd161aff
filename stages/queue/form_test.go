package queue

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

func TestFormIsNeverSwallowed(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		r := newRig(t, newLine(oneSlot()), nil)
		r.fill()
		mine := ticketOf(r.do("GET", "/", html))
		r.strikes.Store(0)
		w := r.send(request(method, "/order", strings.NewReader("a=1"), html, cookie(mine)))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: status %d, Retry-After %q", method, w.Code, w.Header().Get("Retry-After"))
		}
		if !strings.Contains(w.Body.String(), "Your form was not sent") || strings.Contains(w.Body.String(), StatusPath) {
			t.Errorf("%s: body %.300s", method, w.Body)
		}
		if w.Header()["Set-Cookie"] != nil || r.strikes.Load() != 0 || r.seen() != "" {
			t.Errorf("%s: cookies %q, strikes %d, origin %q", method, w.Header()["Set-Cookie"], r.strikes.Load(), r.seen())
		}
		if st := decode(t, r.do("GET", StatusPath, cookie(mine))); st.Position != 1 {
			t.Errorf("%s: the place became %+v", method, st)
		}
	}
}

func TestProgramsPostIsToldThatNothingWasSent(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	w := r.send(request("POST", "/api", strings.NewReader("{}"), accept("application/json")))
	st := decode(t, w)
	if w.Code != http.StatusTooManyRequests || st.Submitted == nil || *st.Submitted || !st.Queued || ticketOf(w) == "" {
		t.Errorf("status %d, %+v", w.Code, st)
	}
}

// TestBodyIsReadBeforeTheDoor holds a form at the door, with its body read so
// that the client's leaving would show, and lets it through whole.
func TestBodyIsReadBeforeTheDoor(t *testing.T) {
	long := strings.Repeat("x", pipeline.MaxHeldBody+5000)
	tests := []struct {
		name    string
		body    string
		length  int64
		options []option
		major   int
		read    bool
	}{
		{"short", "a=1", 3, nil, 1, true},
		{"chunked", "a=1", -1, nil, 1, true},
		{"chunked and long", long, -1, nil, 1, true},
		{"long", long, int64(len(long)), nil, 1, false},
		{"expects 100", "a=1", 3, []option{header("Expect", "100-continue")}, 1, false},
		{"HTTP/2", "a=1", 3, nil, 2, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				door := newDoor(line.Decision{})
				l := &script{answers: []line.Decision{doorDecision(door)}}
				if tt.read {
					l.answers = append([]line.Decision{{Verdict: line.Busy}}, l.answers...)
				}
				r := newRig(t, l, nil)
				source := strings.NewReader(tt.body)
				req := request("POST", "/order", io.NopCloser(source), append(tt.options, html)...)
				req.ContentLength, req.ProtoMajor = tt.length, tt.major
				done := make(chan int, 1)
				go func() { done <- r.send(req).Code }()
				synctest.Wait()
				if got := source.Len() < len(tt.body); got != tt.read {
					t.Errorf("the body is read: %v, want %v", got, tt.read)
				}
				door.grant(line.Decision{Verdict: line.Admitted})
				if code := <-done; code != http.StatusOK {
					t.Fatalf("status %d", code)
				}
				if want := "POST /order " + tt.body; r.seen() != want {
					t.Errorf("the origin got %d bytes, want %d", len(r.seen()), len(want))
				}
			})
		})
	}
}

// TestAdmittedBodyIsNotRead makes sure that a form is not held in memory when
// there is a slot for it.
func TestAdmittedBodyIsNotRead(t *testing.T) {
	l := &script{answers: []line.Decision{{Verdict: line.Admitted}}}
	r := newRig(t, l, nil)
	req := request("POST", "/order", strings.NewReader("a=1"), html)
	body := req.Body
	r.send(req)
	if req.Body != body {
		t.Error("the body was replaced")
	}
	if r.seen() != "POST /order a=1" || len(l.entries) != 1 {
		t.Errorf("origin %q, entries %+v", r.seen(), l.entries)
	}
}

type failingBody struct{ err error }

func (b failingBody) Read([]byte) (int, error) { return 0, b.err }
func (failingBody) Close() error               { return nil }

func TestBodyThatDoesNotCome(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		kind   option
		status int
		text   string
	}{
		{"form too slow", os.ErrDeadlineExceeded, html, 503, "Your form was not sent"},
		{"program too slow", os.ErrDeadlineExceeded, accept("*/*"), 400, "bad request"},
		{"hung up", errors.New("connection reset"), html, 200, ""}, // the recorder's own status: nothing was written
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, &script{answers: []line.Decision{{Verdict: line.Busy}}}, nil)
			req := request("POST", "/", failingBody{tt.err}, tt.kind)
			w := r.send(req)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.text) || tt.text == "" && w.Body.Len() > 0 {
				t.Errorf("status %d, body %.200s", w.Code, w.Body)
			}
			if r.seen() != "" {
				t.Errorf("origin %q", r.seen())
			}
		})
	}
}
