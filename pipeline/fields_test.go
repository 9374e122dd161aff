package pipeline

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

var someFields = NewFields("Cache-Control", "no-store", "Content-Language", "", "Vary", "Cookie\r\nX: 1").With("X-Robots-Tag", "noindex")

// fielded is a visit that is about to be answered, on a connection that takes
// fields or on none.
func fielded(s *sending) (*Visit, *httptest.ResponseRecorder) {
	w := httptest.NewRecorder()
	v := &Visit{rec: recorder{ResponseWriter: w}}
	if s != nil {
		v.rec.find = s.find
	}
	v.W = &v.rec
	return v, w
}

func TestFieldsGoIntoTheHeader(t *testing.T) {
	v, w := fielded(nil)
	v.SetFields(someFields)
	v.AddField("Set-Cookie", []byte("a=1"))
	v.AddField("Set-Cookie", []byte("b=2"))
	want := map[string][]string{"Cache-Control": {"no-store"}, "X-Robots-Tag": {"noindex"}, "Set-Cookie": {"a=1", "b=2"}}
	for name, values := range want {
		if got := w.Header()[name]; !slices.Equal(got, values) {
			t.Errorf("%s is %q, want %q", name, got, values)
		}
	}
	if len(w.Header()) != len(want)+1 {
		t.Errorf("the header is %q", w.Header())
	}
}

// What goes out beside the header is whole lines, whatever is in them, and in
// place of what the header had.
func TestFieldsGoOutBesideTheHeader(t *testing.T) {
	var s sending
	v, w := fielded(&s)
	w.Header()["Vary"] = []string{"Accept"}
	w.Header()["Connection"] = []string{"close"}
	v.SetFields(someFields)
	v.AddField("Set-Cookie", []byte("a=1\nb"))
	const want = "Cache-Control: no-store\r\nVary: Cookie  X: 1\r\nX-Robots-Tag: noindex\r\nSet-Cookie: a=1 b\r\n"
	if string(s.head) != want || len(w.Header()) != 1 {
		t.Errorf("beside the header %q, want %q; in it %q", s.head, want, w.Header())
	}
}

// Once the status is written, the place for fields is not the visit's any more.
func TestLateFieldsHaveNoEffect(t *testing.T) {
	for name, begin := range map[string]func(v *Visit){
		"status": func(v *Visit) { v.W.WriteHeader(http.StatusOK) },
		"body":   func(v *Visit) { _, _ = v.W.Write([]byte("x")) },
	} {
		var s sending
		v, _ := fielded(&s)
		v.AddField("A", []byte("1"))
		begin(v)
		v.SetFields(someFields)
		v.AddField("B", []byte("2"))
		if string(s.head) != "A: 1\r\n" {
			t.Errorf("after the %s: %q", name, s.head)
		}
	}
}

// A stage that has set its fields and then fails is refused without them.
func TestARefusalForgetsTheFieldsBeforeIt(t *testing.T) {
	var s sending
	stage := stub{"fail", AllClasses, func(v *Visit) (Verdict, error) {
		v.rec.find = s.find
		v.SetFields(someFields)
		return Next, &Refusal{Reason: Busy}
	}}
	get(build(t, originFunc(ok), stage), "Accept", "text/html")
	if got, want := string(s.head), string(bodyFields.lines); got != want {
		t.Errorf("beside the header %q, want %q", got, want)
	}
}

func TestFieldsAllocateNothing(t *testing.T) {
	s := sending{head: make([]byte, 0, 1<<10)}
	v, _ := fielded(&s)
	find, value := s.find, []byte("a=1")
	if n := allocs.PerRun(1000, func() {
		v.rec.head, s.head = nil, s.head[:0]
		v.rec.find = find
		v.SetFields(someFields)
		v.AddField("Set-Cookie", value)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
