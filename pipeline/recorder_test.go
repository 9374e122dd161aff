package pipeline

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter takes a second for each piece, and notes the deadlines.
type slowWriter struct {
	*httptest.ResponseRecorder
	deadlines []time.Duration // as they were set, from now
	largest   int
}

func (w *slowWriter) SetWriteDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, time.Until(at))
	return nil
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.largest = max(w.largest, len(p))
	time.Sleep(time.Second)
	return w.ResponseRecorder.Write(p)
}

// Each piece of an answer has a deadline of its own: a slow reader is served,
// one who does not read is not waited for.
func TestAnswersHaveDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
		r := &recorder{ResponseWriter: w, patience: time.Minute}
		n, err := r.Write(make([]byte, 100<<10))
		if n != 100<<10 || err != nil || w.Body.Len() != n || r.bytes != int64(n) {
			t.Errorf("wrote %d, %v; %d counted", n, err, r.bytes)
		}
		if len(w.deadlines) != 4 || w.largest != pieceBytes {
			t.Errorf("%d deadlines, pieces up to %d bytes; want 4 and %d", len(w.deadlines), w.largest, pieceBytes)
		}
		for _, d := range w.deadlines {
			if d != time.Minute {
				t.Errorf("a deadline in %v, want a minute", d)
			}
		}
	})
}

func TestWhoeverSetsDeadlinesDoesSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
		r := &recorder{ResponseWriter: w, patience: time.Minute}
		if err := http.NewResponseController(r).SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Write(make([]byte, 100<<10)); err != nil || len(w.deadlines) != 1 || w.largest != 100<<10 {
			t.Errorf("%v, deadlines %v, piece of %d", err, w.deadlines, w.largest)
		}
	})
}

// sending is a connection that keeps what is written.
type sending struct {
	asked, sent int
	head        []byte
}

func (s *sending) find(*http.Request) Plain { return s }

func (s *sending) Gather() bool {
	s.asked++
	return true
}

func (s *sending) Head() *[]byte { return &s.head }

func (s *sending) Send() error {
	s.sent++
	return http.ErrHandlerTimeout
}

// Of an answer the first piece alone may leave together with the header, when
// it is neither small nor large. That it did not leave is told.
func TestTheFirstPieceLeavesWithTheHeader(t *testing.T) {
	for _, tt := range []struct{ size, asked int }{{100, 0}, {leastGathered, 1}, {mostGathered, 1}, {mostGathered + 1, 0}} {
		var s sending
		r := &recorder{ResponseWriter: httptest.NewRecorder(), find: s.find}
		_, err := r.Write(make([]byte, tt.size))
		if s.asked != tt.asked || s.sent != tt.asked || (err != nil) != (tt.asked > 0) {
			t.Errorf("%d bytes: asked %d times, sent %d times, %v", tt.size, s.asked, s.sent, err)
		}
		if _, err := r.Write(make([]byte, leastGathered)); s.asked != tt.asked || err != nil {
			t.Errorf("after %d bytes: asked again, %v", tt.size, err)
		}
	}
}
