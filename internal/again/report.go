package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is one line of go test -json; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// outcome is what became of one package's tests.
type outcome struct {
	name  string
	texts map[string]*strings.Builder // by test; "" is what the package printed
	ended map[string]string           // by test: pass, fail or skip
	count map[string]int              // by test: how often it has passed
}

// failed returns the tests, without subtests, that failed or did not end.
func (o *outcome) failed() []string {
	var names []string
	for test := range o.texts {
		if test != "" && !strings.Contains(test, "/") && o.ended[test] != "pass" && o.ended[test] != "skip" {
			names = append(names, test)
		}
	}
	slices.Sort(names)
	return names
}

// text returns what a test and its subtests printed.
func (o *outcome) text(test string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(o.texts)) {
		if name == test || strings.HasPrefix(name, test+"/") && o.ended[name] != "pass" {
			b.WriteString(o.texts[name].String())
		}
	}
	return b.String()
}

// report reads the events of go test -json as they come, and prints what go test
// prints without -v. It is for one goroutine.
type report struct {
	out      io.Writer
	line     []byte // of which the end has not come yet
	packages map[string]*outcome
}

func newReport(out io.Writer) *report {
	return &report{out: out, packages: map[string]*outcome{}}
}

// Write implements io.Writer.
func (r *report) Write(p []byte) (int, error) {
	r.line = append(r.line, p...)
	for {
		line, rest, whole := bytes.Cut(r.line, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			fmt.Fprintf(r.out, "%s\n", line)
		} else {
			r.take(e)
		}
		r.line = rest
	}
}

func (r *report) take(e event) {
	if e.Action == "build-output" {
		fmt.Fprint(r.out, e.Output)
	}
	if e.Package == "" {
		return
	}
	o := r.packages[e.Package]
	if o == nil {
		o = &outcome{e.Package, map[string]*strings.Builder{}, map[string]string{}, map[string]int{}}
		r.packages[e.Package] = o
	}
	if o.texts[e.Test] == nil {
		o.texts[e.Test] = &strings.Builder{}
	}
	switch e.Action {
	case "output":
		if !progress(e.Output) {
			o.texts[e.Test].WriteString(e.Output)
		}
	case "pass", "fail", "skip":
		o.end(e)
		if e.Test == "" {
			r.print(o)
		}
	}
}

// progress reports whether a line tells only where the tests are.
func progress(line string) bool {
	return strings.HasPrefix(line, "=== RUN ") || strings.HasPrefix(line, "=== PAUSE ") ||
		strings.HasPrefix(line, "=== CONT ") || strings.HasPrefix(line, "=== NAME ")
}

// end notes how a test ended. Of several times, as with -count, a failure
// counts.
func (o *outcome) end(e event) {
	if e.Action == "pass" {
		o.count[e.Test]++
	}
	if o.ended[e.Test] != "fail" {
		o.ended[e.Test] = e.Action
	}
}

// print shows a package that has ended: its last line, and of a failure all.
func (r *report) print(o *outcome) {
	if o.ended[""] == "fail" {
		for _, test := range o.failed() {
			fmt.Fprint(r.out, o.text(test))
		}
		fmt.Fprint(r.out, o.texts[""])
		return
	}
	for line := range strings.Lines(o.texts[""].String()) {
		if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") {
			fmt.Fprint(r.out, line)
		}
	}
}

// failures returns the packages that failed, by name.
func (r *report) failures() []*outcome {
	var all []*outcome
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		if o := r.packages[name]; o.ended[""] != "pass" && o.ended[""] != "skip" {
			all = append(all, o)
		}
	}
	return all
}
