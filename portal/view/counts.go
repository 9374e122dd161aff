package view

import (
	"cmp"
	"slices"
	"strings"
)

// counts is a table of how often something came up.
type counts struct {
	Title     string
	Rows      []PathCount
	Rest      uint64
	RestTitle string
}

// newCounts sorts a table, the most frequent first.
func newCounts(m map[string]uint64, title string, rest uint64, restTitle string) counts {
	return counts{title, TopPaths(m, len(m)), rest, restTitle}
}

// TopPaths returns the n paths that came up most, the most frequent first.
func TopPaths(m map[string]uint64, n int) []PathCount {
	rows := make([]PathCount, 0, len(m))
	for path, count := range m {
		rows = append(rows, PathCount{path, count})
	}
	slices.SortFunc(rows, func(a, b PathCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Path, b.Path))
	})
	return rows[:min(n, len(rows))]
}
