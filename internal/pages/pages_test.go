package pages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParse shows the reader a page with everything in it.
func TestParse(t *testing.T) {
	p, problems := Parse("x.md", "one `a\nb`\n\n```sh norun: why\nmake x\n```\n\n1. two\n\n   ```http\n   GET /\n\n     more\n   ```\n")
	want := []Block{{"x.md", 4, "sh", "norun", "why", "make x\n"}, {"x.md", 10, "http", "", "", "GET /\n\n  more\n"}}
	if !slices.Equal(p.Blocks, want) || p.Prose != "one `a\nb`\n\n\n1. two\n\n" || len(problems) > 0 {
		t.Errorf("%+v, %q, %q", p.Blocks, p.Prose, problems)
	}
	if p.Code() != "make x\nGET /\n\n  more\na b\n" {
		t.Errorf("code %q", p.Code())
	}
}

// TestProblems: no command hides from being run.
func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"x\n\n    make x\n":                 "x.md:3: a code block is fenced",
		"```\nx\n```\n":                     `the language ""`,
		"```bash\nx\n```\n":                 `the language "bash"`,
		"```sh norun\nx\n```\n":             "no way to run",
		"```sh quickly\nx\n```\n":           "no way to run",
		"```sh serve: because\nx\n```\n":    "no way to run",
		"```text\nsudo make install\n```\n": "holds a command",
		"```sh\nmake x\n":                   "does not end",
		"```sh\nmake x\n```\n":              "",
	} {
		_, problems := Parse("x.md", text)
		if got := strings.Join(problems, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDeadLinks: files and headings are looked for, what is outside is not.
func TestDeadLinks(t *testing.T) {
	a, _ := Parse("docs/a.md", "# One `two`, three?\n\n[x](b.md) [x](b.md#no) [x](#one-two-three) [x](../pages.go)\n![x](none.png) [x](https://example.com/) `[x](code)`\n")
	b, _ := Parse("docs/b.md", "## Yes\n[x](a.md#one-two-three) [x](#yes)\n")
	dir := t.TempDir()
	for _, name := range []string{"docs/a.md", "docs/b.md", "pages.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"docs/a.md: docs/b.md has no heading #no", "docs/a.md: there is no none.png"}
	if got := DeadLinks(dir, []Page{a, b}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
