package tables

import (
	"os"
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	const text = "a\n<!-- measured: x -->\nold\n<!-- end of x -->\nb\n<!-- measured: y -->\n<!-- end of y -->\n"
	got, err := Replace(text, "x", "| new |\n")
	if want := "a\n<!-- measured: x -->\n\n| new |\n\n<!-- end of x -->\nb\n<!-- measured: y -->\n<!-- end of y -->\n"; got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if again, err := Replace(got, "x", "| new |\n"); again != got || err != nil {
		t.Errorf("replaced again: %q, %v", again, err)
	}
	for name, text := range map[string]string{
		"no line":      text,
		"there is no ": "<!-- measured: z -->\n",
		"two lines":    "<!-- measured: z -->\n<!-- end of z -->\n<!-- measured: z -->\n<!-- end of z -->\n",
	} {
		if _, err := Replace(text, "z", ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want %q", err, name)
		}
	}
}

func TestFastest(t *testing.T) {
	rows := fastest("goos: linux\nBenchmarkA/one-2 \t 100\t 30.5 ns/op\t 7 B/op\t 1 allocs/op\n" +
		"BenchmarkB-2 5 2000 ns/op 130.25 B/ticket\nBenchmarkA/one-2 120 29.0 ns/op 7 B/op 2 allocs/op\nPASS\nok x 1s\n")
	if len(rows) != 2 || rows[0].name != "A/one" || rows[1].name != "B" {
		t.Fatalf("%v", rows)
	}
	a := rows[0].figures
	if a["ns/op"] != 29 || a["B/op"] != 7 || a["allocs/op"] != 1 || rows[0].others() != "" {
		t.Errorf("%v", a)
	}
	if got := rows[1].others(); got != "130 B/ticket" {
		t.Errorf("others %q", got)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 7: "7", 29.04: "29", 1.236: "1.24", 1234.5: "1234", 0.00123: "0.00123"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

// TestDocumentHasTheMarks: make bench must find its places.
func TestDocumentHasTheMarks(t *testing.T) {
	text, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		if _, err := Replace(string(text), name, ""); err != nil {
			t.Error(err)
		}
	}
}
