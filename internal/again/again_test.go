package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tiny is a module whose tests fail in every way there is. Those that call once
// fail the first time only, so that whatever gets a second look passes it.
var tiny = map[string]string{
	"go.mod": "module tiny.example\n\ngo 1.26\n",
	"mark/mark.go": `package mark

import ("os"; "path/filepath")

// Once reports whether it is the first of all calls with that name.
func Once(name string) bool {
	path := filepath.Join("..", "mark", name)
	if _, err := os.Stat(path); err == nil { return false }
	return os.WriteFile(path, nil, 0o600) == nil
}
`,
	"good/good_test.go": `package good
import "testing"
func TestGood(t *testing.T) { t.Log("unheard") }
`,
	"once/once_test.go": `package once
import ("testing"; "tiny.example/mark")
func TestOnce(t *testing.T) {
	t.Run("sub", func(t *testing.T) { if mark.Once("once") { t.Error("the first failure") } })
	t.Run("other", func(t *testing.T) { t.Log("unheard") })
}
func TestBeside(t *testing.T) { if mark.Once("beside") { t.Log("unheard") } else { t.Error("it passed and ran again") } }
`,
	"always/always_test.go": `package always
import "testing"
func TestAlways(t *testing.T) { t.Error("as ever") }
`,
	"twice/twice_test.go": `package twice
import ("testing"; "tiny.example/mark")
func TestTwice(t *testing.T) { if mark.Once("first") || !mark.Once("second") { t.Error("not twice in a row") } }
`,
	"race/race_test.go": `package race
import ("testing"; "tiny.example/mark")
func TestRace(t *testing.T) {
	if !mark.Once("race") { return }
	n, done := 0, make(chan bool)
	go func() { n++; close(done) }()
	n++
	<-done
}
`,
	"panics/panics_test.go": `package panics
import ("testing"; "tiny.example/mark")
func TestPanics(t *testing.T) { if mark.Once("panics") { panic("once") } }
`,
	"ends/ends_test.go": `package ends
import ("os"; "testing"; "tiny.example/mark")
func TestEnds(t *testing.T) { if mark.Once("ends") { os.Exit(3) } }
`,
	"hangs/hangs_test.go": `package hangs
import ("testing"; "tiny.example/mark")
func TestHangs(t *testing.T) { if mark.Once("hangs") { select {} } }
`,
	"broken/broken_test.go": `package broken
import "testing"
func TestBroken(t *testing.T) { undefined() }
`,
	"says/says_test.go": `package says
import ("testing"; "tiny.example/mark")
func TestSays(t *testing.T) { if mark.Once("says") { t.Error("invariant 2: overtaken") } }
`,
	"cites/cites_test.go": `package cites
import ("testing"; "testing/synctest")
// TestServer holds invariant 1 on real time.
func TestServer(t *testing.T) {}
// TestBubble holds invariant 1 on a clock of its own.
func TestBubble(t *testing.T) { within(t) }
// TestOther holds none there.
func TestOther(t *testing.T) { within(t) }
func within(t *testing.T) { room{}.enter(t) }
type room struct{}
func (r room) enter(t *testing.T) { synctest.Test(t, func(*testing.T) { t.Helper(); room{}.enter(t) }) }
`,
	"line/redis/redis_test.go": `package redis
import "testing"
// TestPlaces holds invariant 4.
func TestPlaces(t *testing.T) {}
`,
	"many/many_test.go": `package many
import ("testing"; "tiny.example/mark")
func Test1(t *testing.T) { if mark.Once("1") { t.Error("1") } }
func Test2(t *testing.T) { if mark.Once("2") { t.Error("2") } }
func Test3(t *testing.T) { if mark.Once("3") { t.Error("3") } }
func Test4(t *testing.T) { if mark.Once("4") { t.Error("4") } }
func Test5(t *testing.T) { if mark.Once("5") { t.Error("5") } }
func Test6(t *testing.T) { if mark.Once("6") { t.Error("6") } }
`,
}

// write makes the module.
func write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range tiny {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSecondLook: who fails once is shown and forgiven, who fails again is not,
// and what noise cannot do is final at once.
func TestSecondLook(t *testing.T) {
	t.Parallel()
	const unstable, second, final = "=== UNSTABLE: ", "=== a second look", "=== no second look: "
	tests := []struct {
		args      string
		status    int
		says      []string
		saysNever []string
	}{
		{"./good ./mark", 0, []string{"ok  \ttiny.example/good", "?   \ttiny.example/mark"}, []string{unstable, second, "unheard", "PASS", "{"}},
		{"-timeout 1m ./once ./good", 0, []string{"ok  \ttiny.example/good", "--- FAIL: TestOnce", "FAIL\ttiny.example/once", second + ", alone: TestOnce in tiny.example/once",
			unstable + "TestOnce (tiny.example/once) failed once and passed twice alone", "the first failure"}, []string{"TestBeside", "unheard", "=== RUN"}},
		{"./always", 1, []string{second, "as ever"}, []string{unstable}},
		{"./twice", 1, []string{second}, []string{unstable}},
		{"-race ./race", 1, []string{final, "DATA RACE"}, []string{unstable, second}},
		{"./panics", 1, []string{final, "panic"}, []string{unstable, second}},
		{"./ends", 1, []string{final}, []string{unstable, second}},
		{"-timeout 2s ./hangs", 1, []string{final, "panic: test timed out"}, []string{unstable, second}},
		{"./broken", 1, []string{final, "undefined: undefined", "[build failed]"}, []string{unstable, second}},
		{"./missing", 1, []string{final}, []string{unstable, second}},
		{"./says", 1, []string{final + "tiny.example/says: it says invariant 2"}, []string{unstable, second}},
		{"./many", 1, []string{final + "6 failed tests"}, []string{unstable, second}},
	}
	dir := write(t)
	for _, tt := range tests {
		var out, errs bytes.Buffer
		status := run(t.Context(), dir, append([]string{"test"}, strings.Fields(tt.args)...), &out, &errs)
		if (status == 0) != (tt.status == 0) {
			t.Errorf("%s: status %d, want %d\n%s%s", tt.args, status, tt.status, &out, &errs)
		}
		for _, text := range tt.says {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: says nothing of %q:\n%s%s", tt.args, text, &out, &errs)
			}
		}
		for _, text := range tt.saysNever {
			if strings.Contains(out.String(), text) {
				t.Errorf("%s: says %q:\n%s%s", tt.args, text, &out, &errs)
			}
		}
	}
}

// TestFinal: what may be a broken invariant is final. On real time a test of one
// may be late, and only what it says counts.
func TestFinal(t *testing.T) {
	t.Parallel()
	const late, holds, maybe = "i/o timeout", " holds an invariant", "an invariant is broken, or may be"
	s := session{ctx: t.Context(), dir: write(t)}
	for _, tt := range []struct{ name, test, text, want string }{
		{"cites", "TestServer", late, ""},
		{"cites", "TestServer", "Invariant 4: a place was lost", "it says Invariant 4"},
		{"cites", "TestServer", "invariants 1 and 2: more than the cap", "it says invariants 1"},
		{"cites", "TestServer", "invariant 8: one allocation", ""},
		{"cites", "TestServer", "BUG: impossible", "it printed BUG"},
		{"cites", "TestBubble", late, "TestBubble" + holds},
		{"cites", "TestOther", late, ""},
		{"unreadable", "TestServer", late, "TestServer" + holds}, // there is no such package
		{"line", "TestPlaces", late, maybe},
		{"line/memory", "TestPlaces", late, maybe},
		{"slots", "TestSlots", late, maybe},
		{"pipeline", "TestLoop", late, maybe},
		{"line/redis", "TestPlaces", late, ""},
	} {
		o := &outcome{
			name:  "tiny.example/" + tt.name,
			texts: map[string]*strings.Builder{"": {}, tt.test: {}},
			ended: map[string]string{"": "fail", tt.test: "fail"},
		}
		o.texts[tt.test].WriteString(tt.text)
		if got := s.final(o); got != tt.want {
			t.Errorf("%s of %s says %q: %q, want %q", tt.test, tt.name, tt.text, got, tt.want)
		}
	}
}

// TestOtherCommands are go's own.
func TestOtherCommands(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if status := run(t.Context(), ".", []string{"env", "GOOS"}, &out, &errs); status != 0 || out.Len() == 0 {
		t.Errorf("status %d, %q, %s", status, &out, &errs)
	}
	if status := run(t.Context(), ".", []string{"no-such-command"}, &out, &errs); status == 0 || errs.Len() == 0 {
		t.Errorf("status %d, %s", status, &errs)
	}
}
