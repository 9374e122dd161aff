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

// TestDecodeSpeaksOfJSON, and not of Go's types.
func TestDecodeSpeaksOfJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"n":"1"}`:       "n must be a whole number of at most 2147483647, not string",
		`{"n":1e12}`:      "n must be a whole number of at most 2147483647, not number 1e12",
		`{"n":5.5}`:       "n must be a whole number of at most 2147483647, not number 5.5",
		`{"in":{"ok":1}}`: "in.ok must be true or false, not number",
		`{"in":[]}`:       "in must be an object in { }, not array",
		`{"list":{}}`:     "list must be a list in [ ], not object",
		`{"name":1}`:      "name must be a text in quotes, not number",
		`{"part":"x"}`:    "part must be a number, not string",
		``:                "it is empty",
		`{"n":`:           "it ends in the middle",
		`[]`:              "it must be an object in { }, not array",
	} {
		var in struct {
			N  int32 `json:"n"`
			In struct {
				OK bool `json:"ok"`
			} `json:"in"`
			List []int   `json:"list"`
			Name string  `json:"name"`
			Part float64 `json:"part"`
		}
		if err := Decode(strings.NewReader(text), &in); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
