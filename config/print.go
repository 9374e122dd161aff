package config

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/andreimerlescu/concert/certs"
)

// WriteCheck writes every setting with the value in force, its source, and
// whether changing it takes a restart, then certificates and the warnings.
// Secrets are shown as set or unset, and credentials in URLs are replaced.
func WriteCheck(w io.Writer, l *Loaded) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tVALUE\tSOURCE\tCHANGES")
	for _, s := range Settings() {
		from := l.Origins[s.Key]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.name(FromFlag), l.show(s), from, s.changes())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range certs.Describe(l.Config.Certificates(), time.Now()) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	for _, warning := range l.Warnings {
		if _, err := fmt.Fprintln(w, "warning:", warning); err != nil {
			return err
		}
	}
	return nil
}

// show is the value of s for a reader.
func (l *Loaded) show(s Setting) string {
	if l.Made(s) {
		return s.redact("")
	}
	text := s.Text(l.Config)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	if s.effect != nil {
		if effect := s.effect(l.Config); effect != "" {
			text += " (" + effect + ")"
		}
	}
	return text
}

// Made reports whether the value of s was made by Load for this process alone:
// a random key, which nobody set and which ends with the process.
func (l *Loaded) Made(s Setting) bool { return s.Secret && !l.set(s.Key) }

// changes says when a new value applies.
func (s Setting) changes() string {
	if s.Live {
		return "live"
	}
	return "restart"
}

// WriteHelp writes what each flag and variable does, by group.
func WriteHelp(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("A setting changed while Concert runs beats its flag, which beats its\nenvironment variable, which beats the default.\n")
	rows := Settings()
	for _, g := range Groups() {
		fmt.Fprintf(b, "\n%s\n", g)
		for _, s := range rows {
			if s.Group == g {
				s.writeHelp(b)
			}
		}
	}
	b.WriteString("\nOther flags\n  -version\n      Print the version and exit.\n  -help\n      Print this and exit.\n")
	return b.Flush()
}

func (s Setting) writeHelp(b *bufio.Writer) {
	if s.Secret {
		fmt.Fprintf(b, "  %s\n", s.Env)
	} else {
		fmt.Fprintf(b, "  -%s%s   %s\n", s.Flag, s.placeholder(), s.Env)
	}
	text := s.Help + " Takes " + s.Want + "."
	if s.Default != "" {
		text += " Default " + s.Default + "."
	}
	if !s.Live {
		text += " Takes effect at the next start."
	}
	for line := range wrap(text, 72) {
		fmt.Fprintf(b, "      %s\n", line)
	}
}

// placeholder stands for the value in the help text.
func (s Setting) placeholder() string {
	switch s.Kind {
	case KindBool:
		return "[=false]"
	case KindInt, KindFloat, KindSeconds:
		return " N"
	case KindChoice:
		return " " + strings.Join(s.Choices, "|")
	}
	return " " + strings.ToUpper(string(s.Kind))
}

// wrap yields the words of text in lines of at most width bytes, or one word.
func wrap(text string, width int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		line := ""
		for word := range strings.FieldsSeq(text) {
			switch {
			case line == "":
				line = word
			case len(line)+1+len(word) <= width:
				line += " " + word
			default:
				if !yield(line) {
					return
				}
				line = word
			}
		}
		if line != "" {
			yield(line)
		}
	}
}
