package pipeline

import (
	"io"
	"strings"
	"testing"
)

func TestDebugHeaderIsForTokenHoldersOnly(t *testing.T) {
	r := &released{}
	p := build(t, originFunc(ok), classAs(Page), holding(r, 1))
	if got := get(p, DebugHeader, "guess").Header().Get(DebugHeader); got != "" {
		t.Fatalf("a stranger saw %q", got)
	}
	got := get(p, DebugHeader, "secret").Header().Get(DebugHeader)
	for _, want := range []string{"class=page", "classify;us=", "hold;us=", "held=1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestDebugHeaderOfAnAnsweringStage: what Concert answers itself, such as the
// waiting page, says who answered.
func TestDebugHeaderOfAnAnsweringStage(t *testing.T) {
	page := stub{"page", AllClasses, func(v *Visit) (Verdict, error) {
		_, err := io.WriteString(v.W, "wait")
		return Answered, err
	}}
	p := build(t, originFunc(ok), classAs(Page), page)
	got := get(p, DebugHeader, "secret").Header().Values(DebugHeader)
	if len(got) != 1 || !strings.HasPrefix(got[0], "class=page, classify;us=") || !strings.HasSuffix(got[0], ", page") {
		t.Errorf("got %q", got)
	}
	if got := get(p, DebugHeader, "guess").Header().Get(DebugHeader); got != "" {
		t.Errorf("a stranger saw %q", got)
	}
}
