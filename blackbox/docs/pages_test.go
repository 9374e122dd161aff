package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/pages"
)

const root = "../.."

// readPages reads every Markdown file of the repository. Blocks that do not say
// what they are, the house rules report.
func readPages(t *testing.T) []pages.Page {
	t.Helper()
	all, _, err := pages.Read(root)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return all
}

var (
	makeTarget = regexp.MustCompile(`(?m)^make ([a-z][a-z0-9-]*)`)
	goLine     = regexp.MustCompile(`(?m)^go (?:run|test) .*`)
	folderName = regexp.MustCompile(` \./([a-z0-9/]+)(?:$| |/\.\.\.)`)
	flagName   = regexp.MustCompile(` -([a-z-]+)`)
)

// TestCommandsThatTakeLong: what is too long to be run here at least names
// targets, packages and flags that exist.
func TestCommandsThatTakeLong(t *testing.T) {
	makefile := read(t, "Makefile")
	for _, p := range readPages(t) {
		for _, m := range makeTarget.FindAllStringSubmatch(p.Code(), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: there is no make %s", p.Path, m[1])
			}
		}
		for _, line := range goLine.FindAllString(p.Code(), -1) {
			line, _, _ = strings.Cut(line, " #")
			folder := folderName.FindStringSubmatch(line)
			if folder == nil {
				continue
			}
			sources, err := filepath.Glob(filepath.Join(root, folder[1], "*.go"))
			if err != nil || len(sources) == 0 {
				t.Errorf("%s: %q names no package", p.Path, line)
			}
			if !strings.HasPrefix(line, "go run ./bench/") {
				continue
			}
			var text strings.Builder
			for _, source := range sources {
				text.WriteString(read(t, strings.TrimPrefix(filepath.ToSlash(source), root+"/")))
			}
			for _, m := range flagName.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(text.String(), `"`+m[1]+`"`) {
					t.Errorf("%s: %q: there is no -%s", p.Path, line, m[1])
				}
			}
		}
	}
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
