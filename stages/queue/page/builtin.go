package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/paths"
)

//go:embed head.html waiting.html room.html waiting.css say.js alert.js waiting.js room.js farewell.html cookies.html words
var assets embed.FS

// figures are the placeholders of the built-in pages.
func figures() map[string]figure {
	return map[string]figure{
		"{{.Position}}":   position,
		"{{.People}}":     people,
		"{{.ETASeconds}}": etaSeconds,
		"{{.Estimate}}":   estimate,
		"{{.PollMS}}":     pollMS,
		"{{.Refresh}}":    refresh,
		"{{.JoinedMS}}":   joinedMS,
		"{{.Back}}":       back,
		"{{.SkipURL}}":    skipURL,
		"{{.Room}}":       roomID,
		"{{.RoomName}}":   roomName,
	}
}

// BuiltIn prepares the built-in waiting page.
func BuiltIn(look Look) (*Set, error) { return prepare("waiting.html", "waiting.js", look) }

// Room prepares the waiting page of an off-site room, whose place is kept by the
// page itself. Of the values, Room, RoomName and Back are in it.
func Room(look Look) (*Set, error) { return prepare("room.html", "room.js", look) }

// Farewell prepares the page for somebody who has left the line. No value is
// in it.
func Farewell(look Look) (*Set, error) { return prepare("farewell.html", "", look) }

// NoCookies prepares the page for somebody whose browser keeps no cookies. Of
// the values, only Back is in it.
func NoCookies(look Look) (*Set, error) { return prepare("cookies.html", "", look) }

// prepare makes a document's page in every language.
func prepare(document, script string, look Look) (*Set, error) {
	var s Set
	for _, l := range language.All() {
		a, err := assemble(document, script, l, look, false)
		if err != nil {
			return nil, err
		}
		p := newPage(a.html, figures())
		p.policy, p.lang, p.phrases = a.policy, l.Code(), newPhrases(l, a.words)
		s[l] = p
	}
	return &s, nil
}

// assembly is a document with style, script and words in it.
type assembly struct {
	html, policy string
	words        words
}

// assemble puts a document together. only leaves the other languages out.
func assemble(document, script string, l language.Language, look Look, only bool) (*assembly, error) {
	w, err := loadWords(l)
	if err != nil {
		return nil, err
	}
	html, style, code, err := read(document, script)
	if err != nil {
		return nil, err
	}
	if html, err = w.fill(html); err != nil {
		return nil, fmt.Errorf("page: fill %s: %w", document, err)
	}
	own, err := look.style()
	if err != nil {
		return nil, err
	}
	style += own
	offSite := document == "room.html"
	header, err := look.header(l, w, only, offSite)
	if err != nil {
		return nil, err
	}
	block, err := w.block(offSite)
	if err != nil {
		return nil, err
	}
	suffix, quiet := "", ""
	if look.Name != "" {
		suffix = " · " + escape(look.Name)
	}
	if look.Message[l] == "" {
		quiet = " hidden"
	}
	status := InRoom(paths.QueueStatus, look.Room) + "?"
	if look.Room != "" {
		status = InRoom(paths.QueueStatus, look.Room) + "&amp;"
	}
	html = strings.NewReplacer("{{status}}", status, "{{leave}}", InRoom(paths.QueueLeave, look.Room), "{{style}}", style, "{{script}}", code, "{{words}}", block,
		"{{header}}", header, "{{suffix}}", suffix, "{{level}}", look.level(), "{{quiet}}", quiet,
		"{{label}}", escape(w["js."+look.level()]), "{{message}}", escape(look.Message[l])).Replace(html)
	return &assembly{html, policy(style, code), w}, nil
}

// read returns a document with the head that all have, the style and a script; no
// script when it has no name. What the scripts share goes before.
func read(document, script string) (html, style, code string, err error) {
	names := []string{document, "waiting.css", "head.html"}
	if script != "" {
		names = append(names, "say.js", "alert.js", script)
	}
	var parts [6]string
	for i, name := range names {
		b, err := assets.ReadFile(name)
		if err != nil {
			return "", "", "", fmt.Errorf("page: read %s: %w", name, err)
		}
		parts[i] = strings.TrimSpace(string(b))
	}
	if script != "" {
		code = "\"use strict\";\n(() => {\n" + strings.Join([]string{dense(parts[3]), dense(parts[4]), dense(parts[5])}, "\n") + "\n})();"
	}
	return strings.Replace(parts[0], "{{head}}", parts[2], 1), parts[1], code, nil
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

// policy allows one style, one script, calls to the page's own origin, and
// nothing else (Content Security Policy Level 3, section 2.3.1). Another site
// cannot frame the page and have its visitor press a button on it.
func policy(style, code string) string {
	p := "default-src 'none'; style-src " + hash(style)
	if code != "" {
		p += "; script-src " + hash(code) + "; connect-src 'self'"
	}
	return p + "; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
