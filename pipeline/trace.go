package pipeline

import (
	"fmt"
	"net/http"
	"time"
)

// DebugHeader asks for a trace (with the admin token as its value) and carries
// the trace back.
const DebugHeader = "Concert-Debug"

// trace notes what each stage did with one visit.
type trace struct{ text []byte }

// newTrace returns nil, no trace, for a client that may not see one.
func newTrace(allowed bool) *trace {
	if !allowed {
		return nil
	}
	return &trace{}
}

// note adds a stage: its name, the time it took and how many things it took
// hold of.
func (t *trace) note(stage string, took time.Duration, held int) {
	if len(t.text) > 0 {
		t.text = append(t.text, ", "...)
	}
	t.text = fmt.Appendf(t.text, "%s;us=%.1f;held=%d", stage, float64(took.Nanoseconds())/1000, held)
}

// announce has the answer that the stage may now write say how far the visit
// came: such a stage is not noted before its answer is on its way.
func (t *trace) announce(v *Visit, stage string) {
	t.EditResponse(v, 0, v.W.Header())
	v.W.Header()[DebugHeader][0] += ", " + stage
}

// EditResponse writes the trace into the response's header.
func (t *trace) EditResponse(v *Visit, _ int, h http.Header) {
	text := "class=" + v.Class.String()
	if len(t.text) > 0 {
		text += ", " + string(t.text)
	}
	h[DebugHeader] = []string{text}
}
