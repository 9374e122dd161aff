package main

import (
	"regexp"
	"slices"
	"strings"
)

// grave is printed by failures that no noise explains: a data race, a panic, a
// crash, tests that do not end, or a state that Concert calls impossible.
var grave = []string{"DATA RACE", "race detected during execution", "panic:", "fatal error:", "test timed out after", "BUG:"}

// invariant is how the invariants of docs/architecture.md are cited, without the
// last, on allocations: a neighbour's are counted with a test's own.
var invariant = regexp.MustCompile(`(?i)\binvariants? [1-7]\b`)

// guarded are the folders whose tests are all about invariants, and onRealTime
// those among them whose tests drive real servers.
var (
	guarded    = []string{"line", "slots", "pipeline"}
	onRealTime = []string{"line/redis"}
)

// final says why the failure of a package is one however often its tests pass
// afterwards, or "" if noise may have caused it. On real time a test of an
// invariant may fail because something took too long, so there only what it says
// counts: "invariant 2: …". On a clock of its own nothing takes too long.
func (s *session) final(o *outcome) string {
	failed := o.failed()
	if len(failed) == 0 {
		return "it failed, and none of its tests: it was not built, or ended by itself"
	}
	said := o.texts[""].String()
	for _, test := range failed {
		if o.ended[test] == "" {
			return test + " did not end"
		}
		said += o.text(test)
	}
	for _, mark := range grave {
		if strings.Contains(said, mark) {
			return "it printed " + strings.TrimSuffix(mark, ":")
		}
	}
	if cited := invariant.FindString(said); cited != "" {
		return "it says " + cited
	}
	if within(o.name, guarded) && !within(o.name, onRealTime) {
		return "an invariant is broken, or may be"
	}
	all := s.read(o.name)
	for _, test := range failed {
		if all == nil || all.cites(test) && all.onFakeClock(test) {
			return test + " holds an invariant"
		}
	}
	return ""
}

// within reports whether a package is in one of the folders.
func within(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return strings.HasSuffix(name, "/"+folder) || strings.Contains(name, "/"+folder+"/")
	})
}
