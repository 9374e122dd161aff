package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/hosts"
	"github.com/andreimerlescu/concert/internal/commas"
)

// option is one value of a choice with its text.
type option[T comparable] struct {
	text  string
	value T
}

// named gives values their own names for texts.
func named[T interface {
	comparable
	fmt.Stringer
}](values ...T) []option[T] {
	options := make([]option[T], len(values))
	for i, v := range values {
		options[i] = option[T]{v.String(), v}
	}
	return options
}

// choice is one of a few values.
func choice[T comparable](at func(*Config) *T, options ...option[T]) binding {
	var texts []string
	for _, o := range options {
		texts = append(texts, o.text)
	}
	last := len(texts) - 1
	return bound[T]{at, codec[T]{
		Shape: Shape{
			Kind:    KindChoice,
			Want:    strings.Join(texts[:last], ", ") + " or " + texts[last],
			Choices: texts,
		},
		parse: func(text string) (T, error) {
			for _, o := range options {
				if o.text == text {
					return o.value, nil
				}
			}
			var none T
			return none, misfit("")
		},
		format: func(v T) string {
			for _, o := range options {
				if o.value == v {
					return o.text
				}
			}
			return fmt.Sprint(v)
		},
		check: func(v T) error {
			if slices.ContainsFunc(options, func(o option[T]) bool { return o.value == v }) {
				return nil
			}
			return misfit("")
		},
	}}
}

// LogFormat is how log lines are written.
type LogFormat uint8

// The log formats.
const (
	TextLog LogFormat = iota // key=value
	JSONLog                  // one JSON object a line
)

// splitList takes a comma-separated list apart. Blank entries are skipped.
func splitList(text string) []string {
	return slices.Collect(commas.Entries(text))
}

// trustList is a set of networks.
func trustList(at func(*Config) **clientip.Trust) binding {
	return bound[*clientip.Trust]{at, codec[*clientip.Trust]{
		Shape: Shape{Kind: KindList, Want: "addresses or CIDR ranges, separated by commas"},
		parse: func(text string) (*clientip.Trust, error) {
			trust, err := clientip.ParseTrust(text)
			return trust, oneLine(err)
		},
		format: (*clientip.Trust).String,
		check:  func(*clientip.Trust) error { return nil }, // there are no bad ones
	}}
}

// hostList is a set of host names.
func hostList(at func(*Config) **hosts.Set) binding {
	return bound[*hosts.Set]{at, codec[*hosts.Set]{
		Shape: Shape{Kind: KindList, Want: "host names, separated by commas, *.name for all below a name"},
		parse: func(text string) (*hosts.Set, error) {
			set, err := hosts.Parse(text)
			return set, oneLine(err)
		},
		format: (*hosts.Set).String,
		check:  func(*hosts.Set) error { return nil }, // there are no bad ones
	}}
}

// oneLine turns joined errors into a misfit, so that a problem stays a line.
func oneLine(err error) error {
	if err == nil {
		return nil
	}
	return misfit(strings.ReplaceAll(err.Error(), "\n", "; "))
}

// fileList is a list of file names.
func fileList(at func(*Config) *[]string) binding {
	return bound[[]string]{at, codec[[]string]{
		Shape:  Shape{Kind: KindList, Want: "files, separated by commas"},
		parse:  func(text string) ([]string, error) { return splitList(text), nil },
		format: func(v []string) string { return strings.Join(v, ",") },
		check: func(v []string) error {
			for _, path := range v {
				if err := checkPath(path); err != nil {
					return err
				}
			}
			return nil
		},
	}}
}
