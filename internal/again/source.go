package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
)

// bubble is the package in which a test has a clock of its own, which noise does
// not touch.
const bubble = "synctest"

// tests are the functions in the test files of a package, by name. A method goes
// by its own name: two of one name are taken for both.
type tests map[string][]*ast.FuncDecl

// read returns the tests of a package. It is nil if they cannot be read.
func (s *session) read(name string) tests {
	cmd := exec.CommandContext(s.ctx, "go", "list", "-f", "{{.Dir}}", name)
	cmd.Dir = s.dir
	dir, err := cmd.Output()
	if err != nil {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(string(bytes.TrimSpace(dir)), "*_test.go")) // the pattern is well-formed
	all := tests{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return nil
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				all[fn.Name.Name] = append(all[fn.Name.Name], fn)
			}
		}
	}
	return all
}

// cites reports whether the comment of a test names an invariant.
func (all tests) cites(test string) bool {
	return slices.ContainsFunc(all[test], func(fn *ast.FuncDecl) bool { return invariant.MatchString(fn.Doc.Text()) })
}

// onFakeClock reports whether a test, or what it calls, enters a bubble.
func (all tests) onFakeClock(test string) bool {
	seen := map[string]bool{test: true}
	for next := []string{test}; len(next) > 0; {
		names := map[string]bool{}
		for _, fn := range all[next[0]] {
			maps.Copy(names, mentioned(fn))
		}
		if names[bubble] {
			return true
		}
		next = next[1:]
		for name := range names {
			if all[name] != nil && !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
	}
	return false
}

// mentioned are the names that stand in a function.
func mentioned(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
	return names
}
