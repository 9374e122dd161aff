package view

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"sync"
)

//go:embed templates
var templateFiles embed.FS

// templates parses the templates, once.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/*.html"))
})

// sheet is what a template is given.
type sheet struct {
	Frame
	Page any
}

// RenderOverview writes the first tab.
func RenderOverview(w io.Writer, f Frame, p OverviewPage) error {
	return render(w, TabOverview, f, p)
}

// RenderSettings writes the form of all settings.
func RenderSettings(w io.Writer, f Frame, p SettingsPage) error {
	return render(w, TabSettings, f, p)
}

// RenderAccess writes the sessions and the audit trail.
func RenderAccess(w io.Writer, f Frame, p AccessPage) error { return render(w, TabAccess, f, p) }

// RenderSignIn writes the page that asks for the password.
func RenderSignIn(w io.Writer, p SignIn) error { return execute(w, "signin", p) }

// OverviewFragment renders the counters, and the table that stands for the
// charts.
func OverviewFragment(f Frame, p OverviewPage) (Fragment, error) {
	return table("overview-parts", f, p, NewPaging(0, 1, 0), sentence(f.Status))
}

func render(w io.Writer, tab Tab, f Frame, page any) error {
	f.Tab = tab
	return execute(w, string(tab), sheet{Frame: f, Page: page})
}

// execute writes nothing of a page that cannot be rendered whole.
func execute(w io.Writer, name string, data any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("render the portal's %s: %w", name, err)
	}
	_, err := b.WriteTo(w)
	return err
}

func table(name string, f Frame, page any, p Paging, summary string) (Fragment, error) {
	var b bytes.Buffer
	if err := execute(&b, name, sheet{Frame: f, Page: page}); err != nil {
		return Fragment{}, err
	}
	out := Fragment{
		HTML: b.String(), Now: f.Now.UnixMilli(), Total: p.Total, Page: p.Page, Pages: p.Pages, Size: p.Size,
		Where: p.Where, Summary: summary, Flags: p.Flags,
		Status: f.Status, Sentence: sentence(f.Status), Explain: explain(f.Status),
	}
	if out.Where == nil {
		out.Where = map[string]int{}
	}
	if out.Flags == nil {
		out.Flags = map[string]bool{}
	}
	return out, nil
}
