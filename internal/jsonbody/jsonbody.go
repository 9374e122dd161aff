// Package jsonbody reads the JSON bodies of requests.
//
//	err := jsonbody.Decode(http.MaxBytesReader(w, r.Body, most), &body)
//	// "cap must be a whole number of at most 9223372036854775807, not string"
//
// How much is read is for whoever calls to bound.
package jsonbody

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Decode reads one JSON value of known fields, and nothing behind it. The error
// of an empty body wraps io.EOF, others that of the reader.
func Decode(body io.Reader, into any) error {
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return plainly(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there must be nothing behind it")
	}
	return nil
}

// ending is an error of a body that ends before its value does.
type ending struct {
	text string
	error
}

func (e ending) Error() string { return e.text }
func (e ending) Unwrap() error { return e.error }

// plainly says what is wrong with a value in words of JSON: those of
// encoding/json name types of Go. Other errors are left as they are.
func plainly(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return ending{"it is empty", err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ending{"it ends in the middle", err}
	}
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	name := wrong.Field
	if name == "" {
		name = "it"
	}
	return fmt.Errorf("%s must be %s, not %s", name, kindOf(wrong.Type), wrong.Value)
}

// kindOf is what JSON calls values of the type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text in quotes"
	case reflect.Slice, reflect.Array:
		return "a list in [ ]"
	case reflect.Struct, reflect.Map:
		return "an object in { }"
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64 {
		return fmt.Sprintf("a whole number of at most %d", uint64(1)<<(t.Bits()-1)-1)
	}
	return "a number"
}
