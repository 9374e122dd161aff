package cookies

import (
	"fmt"
	"net/http"
	"strings"
)

// Template writes Set-Cookie lines for one cookie whose attributes do not
// change. Use [NewTemplate].
type Template struct {
	start              string // name and equals sign
	plain, secure      string // attributes, without and with Secure
	clear, clearSecure string // whole lines
}

// NewTemplate prepares lines with the name and attributes of c; its value is
// not used, and MaxAge counts seconds (0 for a cookie of the browser session).
// Attributes that net/http would refuse are an error.
func NewTemplate(c *http.Cookie) (*Template, error) {
	model := *c
	model.Value = ""
	if err := model.Valid(); err != nil {
		return nil, fmt.Errorf("cookie %q: %w", c.Name, err)
	}
	secure := model
	secure.Secure = true
	t := &Template{start: c.Name + "="}
	t.plain = strings.TrimPrefix(model.String(), t.start)
	t.secure = strings.TrimPrefix(secure.String(), t.start)
	model.MaxAge, secure.MaxAge = -1, -1 // net/http's way to write Max-Age=0
	t.clear, t.clearSecure = model.String(), secure.String()
	return t, nil
}

// Line returns the line that sets the cookie to value, which must consist of
// characters that need no quoting, as base64url does. Secure is added when
// asked for here or by the template.
func (t *Template) Line(value string, secure bool) string {
	return t.start + value + t.attributes(secure)
}

// Begin appends the part of a line before the value to dst. The caller appends
// the value and then calls [Template.End]; so a line takes one allocation even
// when its value has to be made first.
func (t *Template) Begin(dst []byte) []byte { return append(dst, t.start...) }

// End appends the part of a line behind the value to dst.
func (t *Template) End(dst []byte, secure bool) []byte {
	return append(dst, t.attributes(secure)...)
}

// Clear returns the line that makes browsers forget the cookie.
func (t *Template) Clear(secure bool) string {
	if secure {
		return t.clearSecure
	}
	return t.clear
}

func (t *Template) attributes(secure bool) string {
	if secure {
		return t.secure
	}
	return t.plain
}
