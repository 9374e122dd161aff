package concert

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPackageCommentsStandInDoc: who looks for what a package is for opens
// doc.go. Commands have it above main, and a package of one file in that file.
func TestPackageCommentsStandInDoc(t *testing.T) {
	files := map[string]int{}
	all := sources(t)
	for _, f := range all {
		if !f.test {
			files[f.folder]++
		}
	}
	for _, f := range all {
		base := filepath.Base(f.path)
		if !f.test && f.syntax.Doc != nil && f.syntax.Name.Name != "main" && base != "doc.go" && files[f.folder] > 1 {
			t.Errorf("%s has the package comment: put it in doc.go", f.path)
		}
	}
}

// TestEveryGoroutineSaysWhoEndsIt: a go statement has that beside it. A
// WaitGroup's Go needs none, for whoever waits is in sight.
func TestEveryGoroutineSaysWhoEndsIt(t *testing.T) {
	seen := 0
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, at := range f.loose(&seen) {
			t.Errorf("%s: a comment on this line must say when the goroutine ends", at)
		}
	}
	if seen == 0 {
		t.Error("no goroutine was looked at")
	}
}

// loose returns where the file starts goroutines without saying when they end.
func (f source) loose(seen *int) []string {
	says := map[int]bool{}
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			says[f.line(c.Pos())] = strings.Contains(c.Text, "end") || strings.Contains(c.Text, "until")
		}
	}
	var at []string
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		g, ok := n.(*ast.GoStmt)
		if !ok {
			return true
		}
		*seen++
		if !says[f.line(g.Pos())] && !says[f.line(g.End())] {
			at = append(at, f.at(g))
		}
		return true
	})
	return at
}

// TestEverySettingIsUsed: a field of config.Config that is only parsed and
// checked would be a promise.
func TestEverySettingIsUsed(t *testing.T) {
	var fields []string
	used := map[string]bool{"EnvFiles": true} // the loader reads them, by their key
	for _, f := range sources(t) {
		base := filepath.Base(f.path)
		if f.folder == "config" && strings.HasPrefix(base, "rules") || f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr: // the field that a row is bound to
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "bind" {
					return false
				}
			case *ast.SelectorExpr:
				used[n.Sel.Name] = true
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && f.path == "config/config.go" && n.Name.Name == "Config" {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							fields = append(fields, name.Name)
						}
					}
				}
			}
			return true
		})
	}
	if len(fields) == 0 {
		t.Fatal("config.Config has no fields")
	}
	for _, name := range fields {
		if !used[name] {
			t.Errorf("config.Config.%s is set and never used", name)
		}
	}
}

// TestOwnCookiesStayHere: each cookie that Concert sets is in the list of those
// that the origin does not get. Only the one of gate/protect is a site's own.
func TestOwnCookiesStayHere(t *testing.T) {
	set, kept := map[string]string{}, map[string]bool{}
	for _, f := range sources(t) {
		if f.test || f.isIn("gate/protect") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			name := strings.ToLower(spec.Names[0].Name)
			for _, text := range stringsIn(spec) {
				if name == "owncookies" {
					kept[text] = true
				} else if strings.HasSuffix(strings.TrimSuffix(name, "name"), "cookie") {
					set[text] = f.at(spec)
				}
			}
			return true
		})
	}
	if len(set) == 0 || len(kept) == 0 {
		t.Fatalf("%d cookies are set, %d kept from the origin", len(set), len(kept))
	}
	for name, at := range set {
		if !kept[name] {
			t.Errorf("%s: the origin gets the cookie %q: add it to ownCookies of package upstream", at, name)
		}
	}
}

// stringsIn are the texts in a declaration.
func stringsIn(spec *ast.ValueSpec) (texts []string) {
	ast.Inspect(spec, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}
