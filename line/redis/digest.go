package redisline

import (
	"sort"
	"strconv"
	"strings"
)

// mark is a number and how many stood ahead of it.
type mark struct {
	number uint64
	ahead  float64
}

// readDigest reads what F.digest of the script wrote: admissions per
// nanosecond times 1e15, and marks.
func readDigest(text string) (marks []mark, pace float64) {
	for word := range strings.FieldsSeq(text) {
		number, ahead, ok := strings.Cut(word, ":")
		if !ok {
			pace, _ = strconv.ParseFloat(word, 64)
			pace /= 1e6
			continue
		}
		m := mark{}
		m.number, _ = strconv.ParseUint(number, 10, 64)
		m.ahead, _ = strconv.ParseFloat(ahead, 64)
		marks = append(marks, m)
	}
	return marks, pace
}

// aheadOf is how many stood ahead of a number when the line was last seen.
func (o *outage) aheadOf(number uint64) float64 {
	m := o.marks
	k := sort.Search(len(m), func(k int) bool { return m[k].number >= number })
	switch {
	case len(m) == 0 || k == 0:
		return 0
	case k == len(m):
		return m[k-1].ahead + 1
	}
	a, b := m[k-1], m[k]
	return a.ahead + (b.ahead-a.ahead)*float64(number-a.number)/float64(b.number-a.number)
}
