// Package jsonbody reads the JSON bodies of requests.
package jsonbody

import (
	"encoding/json"
	"errors"
	"io"
)

// Decode reads one JSON value of known fields, and nothing behind it. The error
// of an empty body is io.EOF; it wraps that of the reader.
func Decode(body io.Reader, into any) error {
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there must be nothing behind it")
	}
	return nil
}
