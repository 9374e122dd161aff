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
