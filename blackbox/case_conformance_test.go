package blackbox

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesNameRealTests: a row of these pages without its test is a claim.
func TestPagesNameRealTests(t *testing.T) {
	for page, least := range map[string]int{"conformance.md": 100, "threat-model.md": 30} {
		if rows := checkRows(t, page); rows < least {
			t.Errorf("%s: only %d rows were found", page, rows)
		}
	}
}

// checkRows looks for the tests in the last column of each table that says so,
// and returns how many rows there are.
func checkRows(t *testing.T, page string) (rows int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile("([a-z0-9/]+) `[Tt]est") // before the first test of a folder
	name := regexp.MustCompile("`([Tt]est[A-Za-z0-9]+)`")
	sources := map[string]string{}
	inside := false
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") {
			inside = false
			continue
		}
		if strings.HasPrefix(line, "| ---") {
			continue
		}
		if strings.HasSuffix(strings.TrimSpace(line), " | test |") {
			inside = true
			continue
		}
		if !inside {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		held := strings.TrimSpace(cells[len(cells)-1])
		for part := range strings.SplitSeq(held, ";") {
			where := folder.FindStringSubmatch(part)
			if where == nil {
				t.Errorf("%s: %q names no folder", page, line)
				continue
			}
			if sources[where[1]] == "" {
				sources[where[1]] = sourceOf(t, filepath.Join("..", filepath.FromSlash(where[1])))
			}
			for _, test := range name.FindAllStringSubmatch(part, -1) {
				if !strings.Contains(sources[where[1]], "func "+test[1]+"(") && !strings.Contains(sources[where[1]], ") "+test[1]+"(") {
					t.Errorf("%s: %s has no %s", page, where[1], test[1])
				}
			}
		}
	}
	return rows
}

// sourceOf returns all Go files of a folder.
func sourceOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no Go files, %v", folder, err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
