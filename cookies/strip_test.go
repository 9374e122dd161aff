package cookies

import (
	"net/http"
	"slices"
	"testing"
)

var ours = []string{"room_ticket", "room_probe", "concert_admit"}

// strip is StripLine for the lines of a header; those on which nothing is left
// go, and with the last one the header.
func strip(h http.Header, names []string) bool {
	var kept []string
	stripped := false
	for _, line := range h["Cookie"] {
		rest, changed := StripLine(line, names)
		stripped = stripped || changed
		if !changed || rest != "" {
			kept = append(kept, rest)
		}
	}
	if stripped {
		delete(h, "Cookie")
		if kept != nil {
			h["Cookie"] = kept
		}
	}
	return stripped
}

func TestStrip(t *testing.T) {
	const odd = `a=1; prefs={"k":1}; caf=é; sp=a b`
	tests := []struct {
		name  string
		lines []string
		want  []string // nil: no header
	}{
		{"no header", nil, nil},
		{"none of ours", []string{odd}, []string{odd}},
		{"empty line, none of ours", []string{""}, []string{""}},
		{"separators, none of ours", []string{"; ;"}, []string{"; ;"}},
		{"ours last", []string{odd + "; room_ticket=x"}, []string{odd}},
		{"ours first", []string{"room_ticket=x; " + odd}, []string{odd}},
		{"ours in the middle", []string{"a=1; room_ticket=x; b=2"}, []string{"a=1; b=2"}},
		{"ours everywhere", []string{"room_probe=1; a=1; room_ticket=x; prefs={\"k\":1};room_ticket=y; sp=a b; concert_admit=z"},
			[]string{`a=1; prefs={"k":1}; sp=a b`}},
		{"ours alone", []string{"room_ticket=x"}, nil},
		{"only ours", []string{"room_ticket=x; concert_admit=y;"}, nil},
		{"nothing but separators left", []string{"; room_ticket=x; ;"}, nil},
		{"semicolon at the end stays", []string{"a=1; room_ticket=x;"}, []string{"a=1;"}},
		{"uneven white space stays", []string{"a=1;b=2;   c=3; room_probe=1;\td= 4 "}, []string{"a=1;b=2;   c=3;\td= 4 "}},
		{"look-alikes stay", []string{"xroom_ticket=1; room_ticket2=2; Room_Ticket=3; concert_admit_old=4; __Host-concert_admit=5"},
			[]string{"xroom_ticket=1; room_ticket2=2; Room_Ticket=3; concert_admit_old=4; __Host-concert_admit=5"}},
		{"bare and spaced names go", []string{"a; room_ticket; room_probe =1; b"}, []string{"a; b"}},
		{"equals signs in values stay", []string{"a=room_ticket=1; room_ticket==; ==b"}, []string{"a=room_ticket=1; ==b"}},
		{"first line goes", []string{"room_ticket=x", "a=1"}, []string{"a=1"}},
		{"middle line goes", []string{"a=1", "room_ticket=x", "b=2"}, []string{"a=1", "b=2"}},
		{"each line changes", []string{"a=1; room_ticket=x", "room_ticket=y; b=2"}, []string{"a=1", "b=2"}},
		{"separators on a line without ours stay", []string{"; ;", "room_ticket=x"}, []string{"; ;"}},
		{"every line goes", []string{"room_ticket=x", "room_probe=1"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.lines != nil {
				h["Cookie"] = slices.Clone(tt.lines)
			}
			stripped := strip(h, ours)
			if !slices.Equal(h["Cookie"], tt.want) {
				t.Errorf("lines %q, want %q", h["Cookie"], tt.want)
			}
			if _, there := h["Cookie"]; there != (tt.want != nil) {
				t.Errorf("header there: %v", there)
			}
			if changed := !slices.Equal(tt.lines, tt.want); stripped != changed {
				t.Errorf("says stripped %v, want %v", stripped, changed)
			}
		})
	}
}
