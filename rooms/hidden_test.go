package rooms

import "testing"

func TestBehind(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`"paths":["/x/*"]`, `"paths":["/x/y"]`, "a"},
		{`"paths":["/x/*"]`, `"paths":["/X/y/*","/x/z"]`, "a"},
		{`"paths":["/x/y"]`, `"paths":["/x/*"]`, ""},
		{`"paths":["/x/*"]`, `"paths":["/x/y","/z"]`, ""},
		{`"paths":["/x/*"]`, `"hosts":["h.example"]`, ""},
		{`"paths":["/x/*"]`, `"hosts":["h.example"],"paths":["/x/y"]`, "a"},
		{`"hosts":["h.example"]`, `"paths":["/x/y"]`, ""},
		{`"hosts":["*.h.example"]`, `"hosts":["a.h.example","b.h.example"],"paths":["/x"]`, "a"},
		{`"hosts":["a.h.example"]`, `"hosts":["*.h.example"]`, ""},
	} {
		s := parse(t, `[{"id":"a","cap":1,`+c.a+`},{"id":"b","cap":1,`+c.b+`}]`)
		if got := s.Behind(1); got != c.want {
			t.Errorf("%s behind %s: %q, want %q", c.b, c.a, got, c.want)
		}
		if got := s.Behind(0); got != "" {
			t.Errorf("the first is behind %q", got)
		}
	}
}
