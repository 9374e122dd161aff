// Package commas takes apart lists as settings have them.
//
//	for entry := range commas.Entries("/css/*, /js/*") {
//
// A header field's list is none of these: what may stand around its commas is
// HTTP's to say.
package commas

import (
	"iter"
	"strings"
)

// Entries are what stands between the commas of a list, without the white space
// around it. Blank entries are skipped.
func Entries(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for entry := range strings.SplitSeq(list, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && !yield(entry) {
				return
			}
		}
	}
}
