package pipeline

import (
	"strconv"
	"sync/atomic"
	"time"
)

// maxNumber bounds the prepared header values: Retry-After up to an hour and
// the length of every refusal's body.
const maxNumber = 4096

// largeNumbers is how many numbers above maxNumber are remembered.
const largeNumbers = 512

// numbers writes numbers as header values without allocating each time.
type numbers struct {
	small [maxNumber + 1][]string // "0", "1", …
	large [largeNumbers]atomic.Pointer[number]
}

// number is a number as a header value.
type number struct {
	n    int
	text []string
}

func (ns *numbers) prepare() {
	for n := range ns.small {
		ns.small[n] = []string{strconv.Itoa(n)}
	}
}

// header returns n as a header value: prepared when small, remembered when
// large, for a ban is told to the same client over and over.
func (ns *numbers) header(n int) []string {
	if n >= 0 && n <= maxNumber {
		return ns.small[n]
	}
	kept := &ns.large[uint(n)%largeNumbers]
	if k := kept.Load(); k != nil && k.n == n {
		return k.text
	}
	k := &number{n, []string{strconv.Itoa(n)}}
	kept.Store(k)
	return k.text
}

// seconds rounds d up to whole seconds.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
