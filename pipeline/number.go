package pipeline

import (
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// smallNumbers covers Retry-After up to an hour, and the length of every
	// refusal's body and of most other short answers.
	smallNumbers = 4097
	// largeNumbers is how many numbers beyond are remembered: a ban is told to
	// the same client over and over.
	largeNumbers = 512
)

// numbers are those that were header values before: "0", "1", … each in a place
// of its own, and larger ones, which share the rest.
var numbers [smallNumbers + largeNumbers]atomic.Pointer[number]

// number is a number as a header value.
type number struct {
	n    int
	text []string
}

// Number returns n as the value of a header field, which allocates nothing for a
// number that comes again. Nobody may write to it.
func Number(n int) []string {
	i := uint(n)
	if i >= smallNumbers {
		i = smallNumbers + i%largeNumbers
	}
	kept := &numbers[i]
	if k := kept.Load(); k != nil && k.n == n {
		return k.text
	}
	k := &number{n, []string{strconv.Itoa(n)}}
	kept.Store(k)
	return k.text
}

// seconds rounds d up to whole seconds.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
