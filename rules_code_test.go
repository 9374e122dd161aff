package concert

import (
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
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

// TestExportedNamesAreUsedOutside: an exported name promises that somebody
// relies on it. What an exported declaration mentions counts, and so do a
// document's shape and a limit that a comment links to.
func TestExportedNamesAreUsedOutside(t *testing.T) {
	all := sources(t)
	// Both by "folder.Name". The first is a document made of two others.
	used, linked := map[string]bool{"portal.SettingsEdited": true}, map[string]bool{}
	for _, f := range all {
		f.usesOfOthers(used)
		if !f.test {
			f.mentions(used)
			f.links(linked)
		}
	}
	seen := 0
	for _, f := range all {
		if f.test || f.syntax.Name.Name == "main" {
			continue
		}
		for name, of := range exported(f.syntax) {
			seen++
			if strings.HasPrefix(name, "Err") { // callers may ask for it with errors.Is
				continue
			}
			if key := f.folder + "." + name; !used[key] && !(of == token.CONST && linked[key]) {
				t.Errorf("%s: nothing outside uses %s: do not export it", f.path, name)
			}
		}
	}
	if seen == 0 {
		t.Error("no exported name was looked at")
	}
}

// usesOfOthers notes the names that a file takes from packages of this module.
func (f source) usesOfOthers(used map[string]bool) {
	folders := map[string]string{} // local name → folder
	for _, imp := range f.syntax.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		folder, ours := strings.CutPrefix(path, module+"/")
		if !ours {
			continue
		}
		local := filepath.Base(folder)
		if imp.Name != nil {
			local = imp.Name.Name
		}
		folders[local] = folder
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && folders[x.Name] != "" {
				used[folders[x.Name]+"."+sel.Sel.Name] = true
			}
		}
		return true
	})
}

// mentions notes the names that the exported declarations of a file name.
func (f source) mentions(used map[string]bool) {
	note := func(n ast.Node) {
		if n == nil {
			return
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[f.folder+"."+id.Name] = true
			}
			return true
		})
	}
	for _, d := range f.syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				note(d.Type)
			}
		case *ast.GenDecl:
			f.mentionsOf(d, note, used)
		}
	}
}

// links notes the names that comments of a file link to.
func (f source) links(linked map[string]bool) {
	for _, group := range f.syntax.Comments {
		for link := range strings.SplitSeq(group.Text(), "[") {
			if name, _, closed := strings.Cut(link, "]"); closed && token.IsExported(name) {
				linked[f.folder+"."+name] = true
			}
		}
	}
}

func (f source) mentionsOf(d *ast.GenDecl, note func(ast.Node), used map[string]bool) {
	var of ast.Expr // the type of a group of constants, which goes on from the first
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if !s.Name.IsExported() {
				continue
			}
			note(s.Type)
			if st, ok := s.Type.(*ast.StructType); ok && hasTags(st) {
				used[f.folder+"."+s.Name.Name] = true
			}
		case *ast.ValueSpec:
			if s.Type != nil || len(s.Values) > 0 {
				of = s.Type
			}
			for _, name := range s.Names {
				if id, typed := of.(*ast.Ident); name.IsExported() && typed && id.IsExported() && d.Tok == token.CONST {
					used[f.folder+"."+name.Name] = true
				}
			}
		}
	}
}

// hasTags reports whether a struct is the shape of a document.
func hasTags(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(field *ast.Field) bool { return field.Tag != nil })
}

// exported are the exported functions, types, constants and variables, with the
// keyword of their declaration.
func exported(file *ast.File) map[string]token.Token {
	found := map[string]token.Token{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				found[d.Name.Name] = token.FUNC
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					found[s.Name.Name] = d.Tok
				case *ast.ValueSpec:
					for _, name := range s.Names {
						found[name.Name] = d.Tok
					}
				}
			}
		}
	}
	maps.DeleteFunc(found, func(name string, _ token.Token) bool { return !token.IsExported(name) })
	return found
}
