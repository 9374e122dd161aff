package config

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/andreimerlescu/concert/signed"
)

// Secret is a string that does not print itself, whatever the verb. Convert
// it with string() to use it.
type Secret string

// Format writes a placeholder for every verb of package fmt.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.placeholder()) }

// MarshalText gives encoders and loggers the placeholder as well.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.placeholder()), nil }

func (s Secret) placeholder() string {
	if s == "" {
		return "(unset)"
	}
	return "(set)"
}

// token is a secret that travels in an Authorization header.
func token(at func(*Config) *Secret) binding {
	return bound[Secret]{at, codec[Secret]{
		Shape:  Shape{Kind: KindText, Want: "printable ASCII without spaces, or nothing"},
		parse:  func(text string) (Secret, error) { return Secret(text), nil },
		format: func(s Secret) string { return string(s) },
		check: func(s Secret) error {
			for _, b := range []byte(s) {
				if b <= ' ' || b > '~' {
					return misfit("")
				}
			}
			return nil
		},
	}}
}

// minPassword is the shortest password, in bytes.
const minPassword = 16

// password is a secret that people type.
func password(at func(*Config) *Secret) binding {
	return bound[Secret]{at, codec[Secret]{
		Shape:  Shape{Kind: KindText, Want: fmt.Sprintf("at least %d characters, or nothing", minPassword)},
		parse:  func(text string) (Secret, error) { return Secret(text), nil },
		format: func(s Secret) string { return string(s) },
		check: func(s Secret) error {
			if s != "" && len(s) < minPassword {
				return misfit("make one with: openssl rand -hex 16")
			}
			return nil
		},
	}}
}

// Keys are secrets that sign and verify. Like a Secret they do not print
// themselves.
type Keys [][]byte

// Format writes a placeholder for every verb of package fmt.
func (k Keys) Format(f fmt.State, _ rune) { io.WriteString(f, k.placeholder()) }

// MarshalText gives encoders and loggers the placeholder as well.
func (k Keys) MarshalText() ([]byte, error) { return []byte(k.placeholder()), nil }

func (k Keys) placeholder() string {
	if len(k) == 0 {
		return "(unset)"
	}
	return "(set)"
}

// keyList is a list of keys.
func keyList(at func(*Config) *Keys) binding {
	const remedy = "; make one with: openssl rand -base64 48"
	return bound[Keys]{at, codec[Keys]{
		Shape: Shape{
			Kind: KindList,
			Want: fmt.Sprintf("secrets of at least %d bytes each, separated by commas", signed.MinSecret),
		},
		parse: func(text string) (Keys, error) {
			keys, err := signed.ParseSecrets(text)
			if err != nil {
				return nil, misfit(oneLine(err).Error() + remedy)
			}
			return keys, nil
		},
		format: func(keys Keys) string { return string(bytes.Join(keys, []byte(","))) },
		check: func(keys Keys) error {
			if _, err := signed.NewKeyring(keys, "check"); err != nil {
				return misfit(err.Error() + remedy)
			}
			return nil
		},
	}}
}

// randomKeys makes a key for one run of the program. It is text, so that it
// has a form that could be set.
func randomKeys() Keys {
	return Keys{[]byte(base64.RawStdEncoding.EncodeToString(signed.RandomSecret()))}
}
