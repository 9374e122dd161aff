package page

import (
	"fmt"
	"strings"
)

// document is what a built-in page is made of, in any language.
type document struct {
	html    string // the name of the file
	script  string // that of its script; "" for none
	offSite bool   // it is of an off-site room
}

// waitingDocument is that of the waiting page.
var waitingDocument = document{html: "waiting.html", script: "waiting.js"}

// parts are what documents share: {{name}} stands for the file parts/name.html.
var parts = [...]string{"head", "heading", "since", "alerts", "end"}

// readHTML returns the document's markup with what it shares with others.
func (d document) readHTML() (string, error) {
	html, err := readAsset(d.html)
	if err != nil {
		return "", err
	}
	for _, name := range parts {
		part, err := readAsset("parts/" + name + ".html")
		if err != nil {
			return "", err
		}
		html = strings.Replace(html, "{{"+name+"}}", part, 1)
	}
	return html, nil
}

// readScript returns the document's script behind what all scripts share; ""
// when it has none.
func (d document) readScript() (string, error) {
	if d.script == "" {
		return "", nil
	}
	var all []string
	for _, name := range []string{"say.js", "alert.js", d.script} {
		code, err := readAsset(name)
		if err != nil {
			return "", err
		}
		all = append(all, dense(code))
	}
	return "\"use strict\";\n(() => {\n" + strings.Join(all, "\n") + "\n})();", nil
}

// readStyle returns the style of all documents, with what a look adds.
func readStyle(look *Look) (string, error) {
	style, err := readAsset("waiting.css")
	if err != nil {
		return "", err
	}
	own, err := look.style()
	return style + own, err
}

func readAsset(name string) (string, error) {
	b, err := assets.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("page: read %s: %w", name, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// dense leaves out of a script what only its readers need: comments on lines of
// their own, and what lines are indented with.
func dense(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		if line = strings.TrimLeft(line, "\t"); !strings.HasPrefix(line, "//") {
			b.WriteString(line)
		}
	}
	return b.String()
}
