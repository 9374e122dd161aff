package view

import (
	"html/template"
	"strings"
	"unicode"

	"github.com/andreimerlescu/concert/config"
)

// fieldCell is a field as its template needs it.
type fieldCell struct {
	Field
	Viewer bool
}

// Label is the key in words.
func (f fieldCell) Label() string {
	words := []rune(strings.ReplaceAll(f.Key, "_", " "))
	words[0] = unicode.ToUpper(words[0])
	return string(words)
}

// Words are what a search looks in.
func (f fieldCell) Words() string {
	return strings.ToLower(strings.Join([]string{f.Key, f.Label(), f.Flag, f.Env, f.Help, string(f.Group)}, " "))
}

// Numeric says that a phone should show digits.
func (f fieldCell) Numeric() bool {
	return f.Kind == config.KindInt || f.Kind == config.KindFloat || f.Kind == config.KindSeconds
}

// Bounds say what is accepted.
func (f fieldCell) Bounds() string {
	switch {
	case f.Secret || f.Kind == config.KindBool || len(f.Choices) > 0 || f.Want == "":
		return ""
	case f.Kind == config.KindDuration && f.Min != "" && f.Max != "":
		return "Takes a duration from " + f.Min + " to " + f.Max + ", like 1m30s."
	}
	return "Takes " + f.Want + "."
}

// Off is for the field's actions.
func (f fieldCell) Off() template.HTMLAttr { return off(f.Viewer) }
