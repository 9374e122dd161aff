package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// grave is printed by failures that no noise explains: a data race, a panic, a
// crash, tests that do not end, or a state that Concert calls impossible.
var grave = []string{"DATA RACE", "race detected during execution", "panic:", "fatal error:", "test timed out after", "BUG:"}

// invariant is how the invariants of docs/architecture.md are cited, without the
// last, on allocations: a neighbour's are counted with a test's own.
var invariant = regexp.MustCompile(`(?i)\binvariants? [1-7]\b`)

// guarded are the folders whose tests are all about invariants.
var guarded = []string{"line", "slots", "pipeline", "bench/soak"}

// final says why the failure of a package is one however often its tests pass
// afterwards, or "" if noise may have caused it.
func (s *session) final(o *outcome) string {
	tests := o.failed()
	if len(tests) == 0 {
		return "it failed, and none of its tests: it was not built, or ended by itself"
	}
	said := o.texts[""].String()
	for _, test := range tests {
		if o.ended[test] == "" {
			return test + " did not end"
		}
		said += o.text(test)
	}
	for _, mark := range grave {
		if strings.Contains(said, mark) {
			return "it printed " + strings.TrimSuffix(mark, ":")
		}
	}
	if isGuarded(o.name) || invariant.MatchString(said) {
		return "an invariant is broken, or may be"
	}
	for _, test := range s.citing(o.name, tests) {
		return test + " holds an invariant"
	}
	return ""
}

// isGuarded reports whether a package is in one of the guarded folders.
func isGuarded(name string) bool {
	return slices.ContainsFunc(guarded, func(folder string) bool {
		return strings.HasSuffix(name, "/"+folder) || strings.Contains(name, "/"+folder+"/")
	})
}

// citing returns those of the tests whose comment cites an invariant. All, if
// that cannot be found out.
func (s *session) citing(name string, tests []string) []string {
	cmd := exec.CommandContext(s.ctx, "go", "list", "-f", "{{.Dir}}", name)
	cmd.Dir = s.dir
	dir, err := cmd.Output()
	if err != nil {
		return tests
	}
	files, _ := filepath.Glob(filepath.Join(string(bytes.TrimSpace(dir)), "*_test.go")) // the pattern is well-formed
	var found []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return tests
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && slices.Contains(tests, fn.Name.Name) && invariant.MatchString(fn.Doc.Text()) {
				found = append(found, fn.Name.Name)
			}
		}
	}
	return found
}
