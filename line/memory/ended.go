package memory

import "github.com/andreimerlescu/concert/line"

// endedSize is how many of the latest tickets are remembered once they ended.
const endedSize = 1 << 15

// ended remembers what became of tickets, in a cell for each number modulo its
// size: a number and, in the two lowest bits, a line.Ended.
type ended [endedSize]uint64

func (e *ended) note(number uint64, why line.Ended) {
	cell := &e[number%endedSize]
	if number >= *cell>>2 { // a ticket of long ago may end after its successors
		*cell = number<<2 | uint64(why)
	}
}

// remembers reports whether the number's cell is its own.
func (e *ended) remembers(number uint64) bool { return e[number%endedSize]>>2 == number }

// of is what became of a ticket; EndedUnknown when it is not remembered.
func (e *ended) of(number uint64) line.Ended {
	if !e.remembers(number) {
		return line.EndedUnknown
	}
	return line.Ended(e[number%endedSize] & 3)
}
