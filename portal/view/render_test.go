package view

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"
)

// pages renders every page there is, with what strangers control in it.
func pages(f Frame) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"overview":       func(w io.Writer) error { return RenderOverview(w, f, sampleOverview()) },
		"empty overview": func(w io.Writer) error { return RenderOverview(w, f, OverviewPage{}) },
		"queue":          func(w io.Writer) error { return RenderQueue(w, f, sampleQueue(1, 25)) },
		"empty queue":    func(w io.Writer) error { return RenderQueue(w, f, QueuePage{Paging: NewPaging(0, 1, 25)}) },
		"bans":           func(w io.Writer) error { return RenderBans(w, f, sampleBans()) },
		"visitors":       func(w io.Writer) error { return RenderVisitors(w, f, sampleVisitors(true)) },
		"ban log":        func(w io.Writer) error { return RenderBanLog(w, f, sampleBanLog(true)) },
		"settings":       func(w io.Writer) error { return RenderSettings(w, f, sampleSettings()) },
		"access":         func(w io.Writer) error { return RenderAccess(w, f, sampleAccess()) },
		"sign in":        func(w io.Writer) error { return RenderSignIn(w, SignIn{Name: hostile, Wrong: true}) },
	}
}

// fragments renders every fragment.
func fragments(f Frame) map[string]func() (Fragment, error) {
	return map[string]func() (Fragment, error){
		"queue":    func() (Fragment, error) { return QueueFragment(f, sampleQueue(400, 25)) },
		"found":    func() (Fragment, error) { return FindFragment(f, sampleFound()) },
		"bans":     func() (Fragment, error) { return BansFragment(f, sampleBans()) },
		"visitors": func() (Fragment, error) { return VisitorsFragment(f, sampleVisitors(false)) },
		"visitor":  func() (Fragment, error) { return VisitorFragment(f, sampleDetail()) },
		"ban log":  func() (Fragment, error) { return BanLogFragment(f, sampleBanLog(false)) },
		"ban": func() (Fragment, error) {
			return BanFragment(f, BanDetail{BanView: sampleBanView(12, "active"), Owner: owners[0]})
		},
	}
}

// TestTemplatesAreDefinedOnce: of two with one name the last would silently
// stand for both.
func TestTemplatesAreDefinedOnce(t *testing.T) {
	files, err := templateFiles.ReadDir("templates")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	at := map[string]string{}
	for _, file := range files {
		text, err := templateFiles.ReadFile("templates/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`{{define "([^"]+)"}}`).FindAllStringSubmatch(string(text), -1) {
			if other, taken := at[m[1]]; taken {
				t.Errorf("%s and %s both define %q", other, file.Name(), m[1])
			}
			at[m[1]] = file.Name()
		}
	}
}

// TestStrangersTextStaysText looks for markup that came out of a value.
func TestStrangersTextStaysText(t *testing.T) {
	f := sampleFrame()
	f.Name = hostile
	check := func(t *testing.T, html string) {
		t.Helper()
		for _, markup := range []string{"<img", "<script>", `GET"onx`, "ZgotmplZ"} {
			if strings.Contains(html, markup) {
				t.Errorf("the page holds %s:\n%s", markup, html)
			}
		}
	}
	for name, render := range pages(f) {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatal(err)
			}
			check(t, b.String())
			for _, inline := range []string{" style=", " onclick=", "javascript:"} {
				if strings.Contains(b.String(), inline) {
					t.Errorf("the page holds%s, which its policy forbids", inline)
				}
			}
		})
	}
	for name, render := range fragments(f) {
		t.Run("fragment of "+name, func(t *testing.T) {
			fragment, err := render()
			if err != nil {
				t.Fatal(err)
			}
			check(t, fragment.HTML)
			if !strings.Contains(fragment.HTML, "&lt;img") && name != "queue" && name != "found" {
				t.Error("nothing strange was in the sample: this test sees nothing")
			}
		})
	}
}
