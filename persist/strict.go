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
	type level struct {
		keys    map[string]bool // nil in an array
		isValue bool            // the next token belongs to a key
	}
	var levels []level
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return located(text, err)
		}
		top := len(levels) - 1
		if top >= 0 && levels[top].keys != nil && !levels[top].isValue {
			if key, ok := token.(string); ok {
				if levels[top].keys[key] {
					return fmt.Errorf("line %d: %q stands there twice", lineAt(text, dec.InputOffset()), key)
				}
				levels[top].keys[key], levels[top].isValue = true, true
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: make(map[string]bool)})
			continue
		case json.Delim('['):
			levels = append(levels, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:top]
			top--
		}
		if top >= 0 {
			levels[top].isValue = false // the value is complete
		}
	}
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
