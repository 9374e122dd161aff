package rooms

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/paths"
)

func parse(t testing.TB, text string) *Set {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

const two = `[{"id":"checkout","paths":["/checkout/*"],"cap":3},` +
	`{"id":"tickets","name":"Tickets","hosts":["tickets.example","*.arena.example"],"cap":5,"inflow":2,"inflow_interval":"10s","inflow_burst":4,` +
	`"max_queue":0,"room":"paused","message":"Soon. | de=Bald.","message_level":"warning","html":"t.html"}]`

func TestFind(t *testing.T) {
	s := parse(t, two)
	for _, c := range []struct{ host, target, want string }{
		{"shop.example", "/", ""},
		{"shop.example", "/checkout/pay", "checkout"},
		{"shop.example", "/checkout", "checkout"},
		{"shop.example", "/CheckOut/pay", "checkout"},    // however it is spelt,
		{"shop.example", "/x/../checkout/1", "checkout"}, // whatever the origin
		{"shop.example", "/checkout%2Fpay", "checkout"},  // makes of it
		{"shop.example", "/checkouts", ""},
		{"tickets.example:8443", "/", "tickets"},
		{"Tickets.Example", "/any", "tickets"},
		{"a.b.arena.example", "/", "tickets"},
		{"arena.example", "/", ""},
		{"tickets.example", "/checkout/pay", "checkout"}, // the first of the list
	} {
		if got := s.Find(c.host, paths.Canonical(c.target)); got != c.want {
			t.Errorf("%s%s is in room %q, want %q", c.host, c.target, got, c.want)
		}
	}
	if got := (*Set)(nil).Find("a", paths.Canonical("/")); got != "" || !(*Set)(nil).Empty() {
		t.Errorf("without rooms: %q", got)
	}
	p := paths.Canonical("/checkout/pay")
	if n := allocs.PerRun(1000, func() { s.Find("shop.example", p) }); n != 0 {
		t.Errorf("finding a room allocates %v times", n)
	}
}

func TestMembers(t *testing.T) {
	s := parse(t, two)
	a, b := s.All()[0], s.All()[1]
	if a.MaxQueue != Inherit || a.Interval != time.Second || a.Mode != line.Open || a.Title() != "checkout" || a.Where() != "/checkout/*" {
		t.Errorf("defaults: %+v", a)
	}
	if b.MaxQueue != 0 || b.Interval != 10*time.Second || b.Burst != 4 || b.Mode != line.Paused || !b.Warning || b.HTML != "t.html" ||
		b.Title() != "Tickets" || b.Where() != "tickets.example, *.arena.example" {
		t.Errorf("given: %+v", b)
	}
	if s.Caps() != 8 || s.Get("tickets") == nil || s.Get("no") != nil {
		t.Errorf("caps %d", s.Caps())
	}
	if s.String() != two {
		t.Errorf("written as\n%s, want\n%s", s, two)
	}
	for _, none := range []string{"", "  ", "[]"} {
		if got := parse(t, none); !got.Empty() || got.String() != "" {
			t.Errorf("%q: %q", none, got)
		}
	}
}

// TestProblems: all of them are named at once, each with its room.
func TestProblems(t *testing.T) {
	_, err := Parse(`[{"id":"A b","paths":["/x/*"],"cap":0,"colour":"red"},{"id":"a","hosts":["http://x"],"cap":1,"inflow_interval":"1d"},` +
		`{"id":"a","cap":1},{"paths":["/*"],"room":"shut","max_queue":null,"message":"x\ny","message_level":3,"name":7},{"id":"whole","hosts":[],"paths":[],"cap":2}]`)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`room 1: cap 0: want a whole number from 1`, `room 1: "colour" is no member`, `room 1: id "A b": want 1 to 32`,
		`room "a": hosts ["http://x"]`, `room "a": inflow_interval "1d"`, `room "a": id is taken`, `room "a": it has neither hosts nor paths`,
		`room 4: id is missing`, `room 4: cap is missing`, `room 4: paths ["/*"]`, `room 4: room "shut"`, `room 4: max_queue null`,
		`room 4: message "x\ny"`, `room 4: message_level 3`, `room 4: name 7`, `room "whole": it has neither`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	for _, text := range []string{`{}`, `[1]`, `[`, "[" + strings.Repeat(`{"id":"x","paths":["/x"],"cap":1},`, Max) + `{"id":"y","paths":["/y"],"cap":1}]`} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%.40s is accepted", text)
		}
	}
}

func TestEdits(t *testing.T) {
	s := parse(t, two)
	set := func(text string) map[string]json.RawMessage {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	text, err := s.With("tickets", set(`{"cap":9,"max_queue":null,"room":"open"}`), false)
	if err != nil {
		t.Fatal(err)
	}
	if got := parse(t, string(text)).Get("tickets"); got.Cap != 9 || got.MaxQueue != Inherit || got.Mode != line.Open || got.Inflow != 2 {
		t.Errorf("changed: %+v", got)
	}
	text, err = s.With("new", set(`{"id":"new","hosts":["n.example"],"cap":1}`), true)
	if err != nil || len(parse(t, string(text)).All()) != 3 {
		t.Errorf("added: %s %v", text, err)
	}
	text, err = s.Without("checkout")
	if err != nil || parse(t, string(text)).Get("checkout") != nil {
		t.Errorf("removed: %s %v", text, err)
	}
	text, err = parse(t, string(text)).Without("tickets")
	if err != nil || string(text) != "[]" {
		t.Errorf("removed the last: %s %v", text, err)
	}
	_, err1 := s.With("no", nil, false)
	_, err2 := s.Without("no")
	_, err3 := s.With("tickets", nil, true)
	if !errors.Is(err1, ErrUnknown) || !errors.Is(err2, ErrUnknown) || !errors.Is(err3, ErrTaken) {
		t.Errorf("%v, %v, %v", err1, err2, err3)
	}
}

// FuzzParse: what is accepted is written so that it is read the same.
func FuzzParse(f *testing.F) {
	f.Add(two)
	f.Add(`[{"id":"a","paths":["/a"],"cap":1,"max_queue":5}]`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q is written as %q: %v", text, s, err)
		}
	})
}
