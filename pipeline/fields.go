package pipeline

import "bytes"

// Fields are header fields that many answers share, prepared: most of what a
// short answer costs net/http's server is copying, sorting and writing such.
// They do not change.
type Fields struct {
	names  []string
	values [][]string
	lines  []byte // the same as HTTP/1 has them
}

// NewFields prepares fields that are given as a name, its value, and so on. Names
// are as net/http spells them. A field without a value is left out.
//
// Content-Length, Content-Type, Connection and Date are not for Fields: net/http
// goes by those.
func NewFields(pairs ...string) *Fields {
	f := &Fields{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		f.names = append(f.names, pairs[i])
		f.values = append(f.values, []string{pairs[i+1]})
		f.lines = appendLine(f.lines, pairs[i], []byte(pairs[i+1]))
	}
	return f
}

// With returns the fields of f and some more.
func (f *Fields) With(pairs ...string) *Fields {
	more := NewFields(pairs...)
	return &Fields{
		names:  append(append([]string(nil), f.names...), more.names...),
		values: append(append([][]string(nil), f.values...), more.values...),
		lines:  append(append([]byte(nil), f.lines...), more.lines...),
	}
}

// appendLine appends a field as HTTP/1 has it. What would end the line becomes a
// space, as net/http does it.
func appendLine(b []byte, name string, value []byte) []byte {
	b = append(append(b, name...), ": "...)
	from := len(b)
	b = append(b, value...)
	for _, end := range "\r\n" {
		for {
			i := bytes.IndexByte(b[from:], byte(end))
			if i < 0 {
				break
			}
			b[from+i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// SetFields has the answer carry fields, in place of any of the same name. It
// has no effect once the status is written, as is true of W.Header.
//
// Where it can be, they are not put into W.Header but go out beside it. So only
// who writes the answer should set them, each name once.
func (v *Visit) SetFields(f *Fields) {
	header := v.W.Header()
	head := v.head()
	if head == nil {
		for i, name := range f.names {
			header[name] = f.values[i]
		}
		return
	}
	if len(header) > 0 {
		for _, name := range f.names {
			delete(header, name)
		}
	}
	*head = append(*head, f.lines...)
}

// AddField has the answer carry one more field, beside any of the same name. See
// SetFields.
func (v *Visit) AddField(name string, value []byte) {
	if head := v.head(); head != nil {
		*head = appendLine(*head, name, value)
		return
	}
	header := v.W.Header()
	header[name] = append(header[name], string(value))
}

// head is where fields go that W.Header does not hear of; nil where that cannot be
// done.
func (v *Visit) head() *[]byte {
	if v.rec.head == nil && !v.Started() {
		if c := v.rec.connection(); c != nil {
			v.rec.head = c.Head()
		}
	}
	return v.rec.head
}

// forgetFields has the answer go without the fields that were set so far.
func (v *Visit) forgetFields() {
	if v.rec.head != nil {
		*v.rec.head = (*v.rec.head)[:0]
	}
}
