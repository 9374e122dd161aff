package page

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/paths"
)

// assembly is a document with style, script and words in it.
type assembly struct {
	html, policy string
	words        words
}

// assemble puts a document together. only leaves the other languages out.
func (d document) assemble(l language.Language, look Look, only bool) (*assembly, error) {
	w, err := loadWords(l)
	if err != nil {
		return nil, err
	}
	html, err := d.readHTML()
	if err != nil {
		return nil, err
	}
	if html, err = w.fill(html); err != nil {
		return nil, fmt.Errorf("page: fill %s: %w", d.html, err)
	}
	style, noStyle := readStyle(&look)
	code, noScript := d.readScript()
	filling, noFilling := d.filling(w, l, &look, only)
	if err := errors.Join(noStyle, noScript, noFilling); err != nil {
		return nil, err
	}
	filling = append(filling, "{{style}}", style, "{{script}}", code)
	return &assembly{strings.NewReplacer(filling...).Replace(html), policy(style, code), w}, nil
}

// filling is what takes the place of the marks that are the same for every
// visitor: a mark, its text, and so on.
func (d document) filling(w words, l language.Language, look *Look, only bool) ([]string, error) {
	header, noHeader := look.header(l, w, only, d.offSite)
	block, noBlock := w.block(d.offSite)
	if err := errors.Join(noHeader, noBlock); err != nil {
		return nil, err
	}
	suffix, hidden := "", ""
	if look.Name != "" {
		suffix = " · " + escape(look.Name)
	}
	if look.Message[l] == "" {
		hidden = " hidden"
	}
	return []string{
		"{{status}}", statusAddress(look.Room), "{{leave}}", InRoom(paths.QueueLeave, look.Room),
		"{{words}}", block, "{{header}}", header, "{{suffix}}", suffix,
		"{{level}}", look.level(), "{{label}}", escape(w["js."+look.level()]), "{{message}}", escape(look.Message[l]), "{{hidden}}", hidden,
	}, nil
}

// statusAddress is where a page asks after a place, up to its own fields.
func statusAddress(room string) string {
	address := InRoom(paths.QueueStatus, room)
	if room == "" {
		return address + "?"
	}
	return address + "&amp;"
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
