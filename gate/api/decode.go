package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decode reads one JSON value.
func decode(body []byte, value any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	if strict {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(value); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			// The field's path goes through the structs that are embedded.
			return fmt.Errorf("%q must not be a JSON %s", kind.Field[strings.LastIndexByte(kind.Field, '.')+1:], kind.Value)
		}
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}
