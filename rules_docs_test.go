package concert

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/pages"
)

// TestEveryPackageIsInTheArchitecture: by its name, or by that of a folder
// above it that stands for all below ("bench/…").
func TestEveryPackageIsInTheArchitecture(t *testing.T) {
	text := read(t, "docs/architecture.md")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9/]+(/…)?)`").FindAllStringSubmatch(text, -1) {
		listed[m[1]] = true
	}
	for _, folder := range packages(t) {
		top, _, _ := strings.Cut(folder, "/")
		if folder != "." && !listed[folder] && !listed[top+"/…"] {
			t.Errorf("docs/architecture.md does not say what %s is for", folder)
		}
	}
}

// TestEveryFolderIsOnTheMap: doc.go of the root names each.
func TestEveryFolderIsOnTheMap(t *testing.T) {
	text := read(t, "doc.go")
	for _, folder := range packages(t) {
		top, _, _ := strings.Cut(folder, "/")
		if top == "cmd" || top == "." {
			continue
		}
		if !regexp.MustCompile(`(?m)^//	(\w+, )*` + top + `\b`).MatchString(text) {
			t.Errorf("doc.go does not have %s on its map", top)
		}
	}
}

// TestInvariantsAreCited: each of docs/architecture.md by something in a test.
func TestInvariantsAreCited(t *testing.T) {
	_, text, found := strings.Cut(read(t, "docs/architecture.md"), "## Invariants")
	numbers := regexp.MustCompile(`(?m)^(\d+)\. \*\*`).FindAllStringSubmatch(text, -1)
	if !found || len(numbers) == 0 {
		t.Fatal("docs/architecture.md has no numbered invariants")
	}
	cited := map[string]string{}
	for _, f := range sources(t) {
		if !f.test && !strings.HasSuffix(f.folder, "test") {
			continue
		}
		for _, group := range f.syntax.Comments {
			for _, m := range regexp.MustCompile(`[Ii]nvariants? (\d+(?:,? (?:and )?\d+)*)`).FindAllStringSubmatch(group.Text(), -1) {
				for _, n := range regexp.MustCompile(`\d+`).FindAllString(m[1], -1) {
					cited[n] = f.at(group)
				}
			}
		}
	}
	for _, m := range numbers {
		if cited[m[1]] == "" {
			t.Errorf("no test says that it holds invariant %s", m[1])
		}
		delete(cited, m[1])
	}
	for n, at := range cited {
		t.Errorf("%s: there is no invariant %s", at, n)
	}
}

// TestStagesHaveOneShape: who knows one knows where to look in all of them.
func TestStagesHaveOneShape(t *testing.T) {
	places := map[string]string{ // of a declaration, the file it belongs into
		"Stage": "stage.go", "New": "stage.go", "(Stage) Name": "stage.go", "(Stage) Classes": "stage.go", "(Stage) Enter": "stage.go",
		"(Stage) Apply": "stage.go", "Config": "config.go", "Stats": "stats.go", "(Stage) Stats": "stats.go",
	}
	optional := []string{"(Stage) Apply", "Stats", "(Stage) Stats"}
	at := map[string]map[string]string{}
	for _, f := range sources(t) {
		stage, ok := strings.CutPrefix(f.folder, "stages/")
		if !ok || strings.Contains(stage, "/") || f.test {
			continue
		}
		if at[stage] == nil {
			at[stage] = map[string]string{}
		}
		for _, name := range declared(f.syntax) {
			at[stage][name] = filepath.Base(f.path)
		}
	}
	for stage, found := range at {
		for name, want := range places {
			if got := found[name]; got != want && (got != "" || !slices.Contains(optional, name)) {
				t.Errorf("stages/%s: %s is in %q, want it in %s", stage, name, got, want)
			}
		}
		for _, file := range []string{"doc.go", "stage_test.go"} {
			if _, err := os.Stat(filepath.Join("stages", stage, file)); err != nil {
				t.Errorf("stages/%s: %v", stage, err)
			}
		}
	}
	if len(at) == 0 {
		t.Error("no stage was looked at")
	}
}

// declared names the functions and types of a file, methods as "(Type) Name".
func declared(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			} else {
				names = append(names, "("+receiver(d)+") "+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// packages are the folders with Go files that are not tests only.
func packages(t *testing.T) []string {
	t.Helper()
	var folders []string
	for _, f := range sources(t) {
		if !f.test && !slices.Contains(folders, f.folder) && !strings.HasPrefix(f.folder, "deploy") {
			folders = append(folders, f.folder)
		}
	}
	return folders
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestOnePackageComment(t *testing.T) {
	comments := map[string]int{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		comments[f.folder] += 0
		if f.syntax.Doc != nil {
			comments[f.folder]++
		}
	}
	for folder, n := range comments {
		if n != 1 {
			t.Errorf("%s has %d package comments, want 1", folder, n)
		}
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, name := range undocumented(f.syntax) {
			t.Errorf("%s: %s has no comment", f.at(name), name.Name)
		}
	}
}

// TestDecisionsAreNumberedOnce: a decision is cited by its number.
func TestDecisionsAreNumberedOnce(t *testing.T) {
	files, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	for i, path := range files {
		text, err := os.ReadFile(path)
		if want := fmt.Sprintf("# %d. ", i+1); err != nil || !strings.HasPrefix(string(text), want) ||
			!strings.HasPrefix(filepath.Base(path), fmt.Sprintf("%03d-", i+1)) {
			t.Errorf("%s: want it numbered and headed %q; %v", path, want, err)
		}
	}
}

// TestPages: each block of commands says to the tests in blackbox/docs how it is
// run, and each link leads somewhere.
func TestPages(t *testing.T) {
	all, problems, err := pages.Read(".")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	for _, problem := range append(problems, pages.DeadLinks(".", all)...) {
		t.Error(problem)
	}
}
