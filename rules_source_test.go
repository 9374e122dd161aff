package concert

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// source is one Go file of the tree, parsed.
type source struct {
	path, folder string // relative to the root, with slashes
	test         bool
	set          *token.FileSet
	syntax       *ast.File
}

// sources are the Go files of the main module.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// tree parses every file, once.
var tree = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "tools" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			f, err := parse(path, nil)
			all = append(all, f)
			return err
		}
		return nil
	})
	return all, err
})

// parse reads a file, or text when it is not nil.
func parse(path string, text any) (source, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	path = filepath.ToSlash(path)
	folder := "."
	if i := strings.LastIndex(path, "/"); i >= 0 {
		folder = path[:i]
	}
	return source{path: path, folder: folder, test: strings.HasSuffix(path, "_test.go"), set: set, syntax: syntax}, nil
}

func (f source) line(p token.Pos) int { return f.set.Position(p).Line }

func (f source) at(n ast.Node) string { return fmt.Sprintf("%s:%d", f.path, f.line(n.Pos())) }

func (f source) isIn(folders ...string) bool {
	for _, folder := range folders {
		if f.folder == folder || strings.HasPrefix(f.folder, folder+"/") {
			return true
		}
	}
	return false
}

// uses returns where the file names one of the selectors, as "file:line: name".
func (f source) uses(names ...string) []string {
	var at []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		for _, name := range names {
			if isSelector(n, name) {
				at = append(at, f.at(n)+": "+name)
			}
		}
		return true
	})
	return at
}

// isSelector reports whether n is the selector name ("package.Name").
func isSelector(n ast.Node, name string) bool {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name+"."+sel.Sel.Name == name
}

// bubblesOf names the functions that run a function in a bubble of synctest, as
// the tests of that folder call them: synctest.Test, and wrappers around it.
func bubblesOf(all []source, folder string) map[string]bool {
	bubbles := map[string]bool{"synctest.Test": true}
	for _, f := range all {
		if f.folder != folder || !f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if isSelector(n, "synctest.Test") {
					bubbles[fn.Name.Name] = true
				}
				return true
			})
		}
	}
	return bubbles
}

// sleepsOutside finds calls of time.Sleep that are not within an argument of
// one of the bubbles.
func sleepsOutside(bubbles map[string]bool, root ast.Node) []ast.Node {
	var found []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && bubbles[id.Name] || isSelector(call.Fun, "synctest.Test") {
				return false
			}
		}
		if isSelector(n, "time.Sleep") {
			found = append(found, n)
		}
		return true
	})
	return found
}

// isTest reports whether go test calls the function by its name.
func isTest(fn *ast.FuncDecl) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if fn.Recv == nil && strings.HasPrefix(fn.Name.Name, prefix) {
			return true
		}
	}
	return false
}

// undocumented returns the exported top-level names, and methods of exported
// types, without a comment of their own or of their group.
func undocumented(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, undocumentedSpec(d, spec)...)
			}
		}
	}
	return names
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec) []*ast.Ident {
	var names []*ast.Ident
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
			names = append(names, s.Name)
		}
	case *ast.ValueSpec:
		if s.Doc != nil || s.Comment != nil || d.Doc != nil {
			return nil
		}
		for _, name := range s.Names {
			if name.IsExported() {
				names = append(names, name)
			}
		}
	}
	return names
}

// exportedReceiver reports whether fn is no method, or one of an exported type.
func exportedReceiver(fn *ast.FuncDecl) bool { return fn.Recv == nil || ast.IsExported(receiver(fn)) }

// receiver names the type that a method is of.
func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// undocumentedMutexes returns mutex fields without a comment on what they guard.
func undocumentedMutexes(file *ast.File) []ast.Node {
	var found []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok || !isSelector(field.Type, "sync.Mutex") && !isSelector(field.Type, "sync.RWMutex") {
			return true
		}
		if text := field.Doc.Text() + field.Comment.Text(); !strings.Contains(text, "guards") && !strings.Contains(text, "serialises") {
			found = append(found, field)
		}
		return true
	})
	return found
}
