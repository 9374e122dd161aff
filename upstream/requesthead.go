package upstream

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// requestHead is where a request's header is put together, to be sent in one
// piece. It is reused.
type requestHead struct {
	fields []field
	out    []byte
}

// What is larger is not kept for reuse.
const (
	manyFields = 64
	longHead   = 16 << 10
)

// write makes w.out the request line and the fields of e's request.
func (w *requestHead) write(e *exchange, target, upgrade string) error {
	w.fields = e.p.fields(w.fields[:0], e.v, upgrade)
	host := e.p.hostField
	if e.p.cfg.PreserveHost {
		host = e.r.Host
	}
	b := append(w.out[:0], e.r.Method...)
	b = append(b, ' ')
	b = append(b, target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(append(b, host...), '\r', '\n')
	for i := range w.fields {
		var err error
		if b, err = w.fields[i].appendTo(b); err != nil {
			return err
		}
		e.expects = e.expects || w.fields[i].expectsContinue()
	}
	b = e.appendFraming(b)
	w.out = append(b, '\r', '\n')
	return nil
}

// appendTo appends the field's lines.
func (f *field) appendTo(b []byte) ([]byte, error) {
	if !httpguts.ValidHeaderFieldName(f.name) {
		return b, fmt.Errorf("field name %q: %w", f.name, errRequestField)
	}
	if f.lines == nil {
		return f.appendLine(b, f.value)
	}
	var err error
	for _, value := range f.lines {
		if b, err = f.appendLine(b, value); err != nil {
			return b, err
		}
	}
	return b, nil
}

func (f *field) appendLine(b []byte, value string) ([]byte, error) {
	if breaks(value) {
		return b, fmt.Errorf("value of %s: %w", f.name, errRequestField)
	}
	b = append(append(b, f.name...), ": "...)
	return append(append(b, value...), '\r', '\n'), nil
}

// expectsContinue reports whether the origin is asked if it wants the body.
func (f *field) expectsContinue() bool {
	return f.name == "Expect" && hasToken(f.lines, "100-continue")
}

// trim lets go of what the visitor has sent, and of what a rare large request
// has taken.
func (w *requestHead) trim() {
	if cap(w.fields) > manyFields {
		w.fields = nil
	}
	clear(w.fields)
	if cap(w.out) > longHead {
		w.out = nil
	}
}

// breaks reports whether a value would end its line. The server has refused
// such already; a request put together wrong is the last thing to be sent.
func breaks(value string) bool {
	return strings.IndexByte(value, '\n') >= 0 || strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, 0) >= 0
}

// appendFraming says how the request's body ends. A stated length of zero
// stays stated, for every method.
func (e *exchange) appendFraming(b []byte) []byte {
	n := e.r.ContentLength
	switch {
	case n != 0:
		e.body.open(e)
	case e.r.Header["Content-Length"] == nil:
		return b
	}
	if n >= 0 {
		b = append(b, "Content-Length: "...)
		return append(strconv.AppendInt(b, n, 10), '\r', '\n')
	}
	b = append(b, "Transfer-Encoding: chunked\r\n"...)
	if names := e.body.trailerNames(); len(names) > 0 {
		b = append(b, "Trailer: "...)
		b = append(append(b, strings.Join(names, ", ")...), '\r', '\n')
	}
	return b
}

// trailerNames are sorted.
func (b *requestBody) trailerNames() []string {
	names := make([]string, 0, len(b.trailer))
	for name := range b.trailer {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
