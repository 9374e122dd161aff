package cookies

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestEach(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"no header", nil, nil},
		{"none of the name", []string{"a=1; b=2"}, nil},
		{"alone", []string{"pass=x"}, []string{"x"}},
		{"twins in order", []string{"pass=old; a=1; pass=new"}, []string{"old", "new"}},
		{"over several lines", []string{"a=1; pass=x", "pass=y;b=2", "pass=z"}, []string{"x", "y", "z"}},
		{"look-alikes", []string{"xpass=1; pass2=2; Pass=3; pass_old=4; __Host-pass=5; a=pass=6"}, nil},
		{"white space around", []string{"a=1;\tpass = x ;b=2"}, []string{"x"}},
		{"empty and bare", []string{"pass=; pass"}, []string{"", ""}},
		{"value as sent", []string{`pass="a b"=é`}, []string{`"a b"=é`}},
		{"separators only", []string{"; ;;"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Cookie": tt.lines}
			if got := slices.Collect(Each(h, "pass")); !slices.Equal(got, tt.want) {
				t.Errorf("values %q, want %q", got, tt.want)
			}
		})
	}
}

// Whoever reads cookies checks a signature for each: a flood of them costs what
// the first few do.
func TestEachIsBounded(t *testing.T) {
	h := http.Header{"Cookie": {strings.Repeat("a=1; b=1; ", MaxSame), "a=2"}}
	got := slices.Collect(Each(h, "a"))
	if len(got) != MaxSame || slices.Contains(got, "2") {
		t.Errorf("%d values, want the first %d", len(got), MaxSame)
	}
}

func TestEachStops(t *testing.T) {
	h := http.Header{"Cookie": {"a=1; a=2", "a=3"}}
	for value := range Each(h, "a") {
		if value != "1" {
			t.Fatalf("went on to %q", value)
		}
		break
	}
}
