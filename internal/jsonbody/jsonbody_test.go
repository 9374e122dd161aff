package jsonbody

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestDecodeReadsOneKnownValue(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"n":1}`: true, " {\"n\":1}\n": true, `{}`: true,
		``: false, `{"n":1}{}`: false, `{"n":1}x`: false, `{"m":1}`: false, `{"n":"1"}`: false, `{"n":`: false, `[]`: false,
	} {
		var in struct {
			N int `json:"n"`
		}
		if err := Decode(strings.NewReader(text), &in); (err == nil) != ok || (text == "") != errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
