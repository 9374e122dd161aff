package pipeline

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// withBody is a visit with a body and the length that is stated of it.
func withBody(body io.Reader, length int64) *Visit {
	r := httptest.NewRequest("POST", "/", body)
	r.ContentLength = length
	return &Visit{R: r, W: httptest.NewRecorder()}
}

func TestHoldBody(t *testing.T) {
	f := func(size int, length int64, hides, whole bool) {
		t.Helper()
		v := withBody(strings.NewReader(strings.Repeat("x", size)), length)
		if got := v.HidesLeaving(); got != hides {
			t.Errorf("%d bytes, said to be %d: hides leaving: %v", size, length, got)
		}
		if err := v.HoldBody(); err != nil {
			t.Fatal(err)
		}
		if v.HidesLeaving() || v.BodyInMemory() != whole {
			t.Errorf("%d bytes, said to be %d: hides leaving once held, or whole: %v", size, length, v.BodyInMemory())
		}
		if got, err := io.ReadAll(v.R.Body); len(got) != size || err != nil {
			t.Errorf("%d bytes are read as %d, %v", size, len(got), err)
		}
	}
	f(4, 4, true, true)
	f(4, -1, true, true)
	f(MaxHeldBody, MaxHeldBody, true, true)
	f(MaxHeldBody, -1, true, false) // more could come
	f(MaxHeldBody+1, -1, true, false)
	f(MaxHeldBody+1, MaxHeldBody+1, false, false)
}

func TestWhatHidesLeaving(t *testing.T) {
	f := func(name string, want bool, change func(*http.Request)) {
		t.Helper()
		v := withBody(strings.NewReader("body"), 4)
		change(v.R)
		if got := v.HidesLeaving(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	f("HTTP/1", true, func(*http.Request) {})
	f("HTTP/2", false, func(r *http.Request) { r.ProtoMajor = 2 })
	f("no body", false, func(r *http.Request) { r.Body, r.ContentLength = http.NoBody, 0 })
	f("nil body", false, func(r *http.Request) { r.Body, r.ContentLength = nil, 0 })
	f("100-continue", false, func(r *http.Request) { r.Header.Set("Expect", "100-continue") })
}

func TestHoldBodyTellsSlowFromGone(t *testing.T) {
	for _, want := range []error{os.ErrDeadlineExceeded, io.ErrUnexpectedEOF} {
		v := withBody(io.MultiReader(strings.NewReader("bo"), iotest.ErrReader(want)), 4)
		if err := v.HoldBody(); !errors.Is(err, want) {
			t.Errorf("error is %v, want %v", err, want)
		}
	}
}
