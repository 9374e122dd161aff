package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// strictJSON reads text as one JSON value. Its errors are for people: what is
// wrong and in which line.
func strictJSON(text []byte, into any) error {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return errors.New("it is empty")
	case bytes.IndexByte(text, 0) >= 0:
		return errors.New("it holds NUL bytes, as files do after a power failure")
	}
	if err := json.Unmarshal(text, into); err != nil {
		return located(text, err)
	}
	return nil
}

// located adds the line to an error of encoding/json.
func located(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", lineAt(text, syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: %q must not be a JSON %s", lineAt(text, kind.Offset), kind.Field, kind.Value)
	}
	return err
}

// lineAt is the number, from 1, of the line that holds the byte at offset.
func lineAt(text []byte, offset int64) int {
	offset = max(0, min(offset, int64(len(text))))
	return 1 + bytes.Count(text[:offset], []byte("\n"))
}

// uniqueKeys reports a key that stands twice in one object: nobody can tell
// which of the two values was meant.
func uniqueKeys(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var in nesting
	for {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return located(text, err)
		case in.take(token):
			return fmt.Errorf("line %d: %q stands there twice", lineAt(text, dec.InputOffset()), token)
		}
	}
}

// nesting is the objects and arrays that a token of JSON is in, from the outside
// to the inside.
type nesting []nestingLevel

type nestingLevel struct {
	keys    map[string]bool // nil in an array
	isValue bool            // the next token belongs to a key
}

// take goes on to a token, and reports whether it is a key that its object has
// already.
func (n *nesting) take(token json.Token) (twice bool) {
	if key, ok := token.(string); ok && n.wantsKey() {
		top := &(*n)[len(*n)-1]
		twice = top.keys[key]
		top.keys[key], top.isValue = true, true
		return twice
	}
	switch token {
	case json.Delim('{'):
		*n = append(*n, nestingLevel{keys: make(map[string]bool)})
		return false
	case json.Delim('['):
		*n = append(*n, nestingLevel{})
		return false
	case json.Delim('}'), json.Delim(']'):
		*n = (*n)[:len(*n)-1]
	}
	if top := len(*n) - 1; top >= 0 {
		(*n)[top].isValue = false // the value is complete
	}
	return false
}

// wantsKey reports whether a key comes next, or the end of an object.
func (n nesting) wantsKey() bool {
	top := len(n) - 1
	return top >= 0 && n[top].keys != nil && !n[top].isValue
}

// checkVersion judges the version of a file against the one this program
// writes. There is no older one to convert yet.
func checkVersion(have, ours int) error {
	switch {
	case have > ours:
		return fmt.Errorf("it has version %d and was written by a newer Concert; this one reads version %d", have, ours)
	case have < 1:
		return errors.New(`it has no "version"`)
	}
	return nil
}
