package line

import "slices"

// Mode is the operator's switch.
type Mode uint8

const (
	Open   Mode = iota // people are let in as Policy says
	Paused             // nobody is let in; arrivals get places
	Closed             // nobody is let in and no new places are given
)

// Modes are all of them, the usual one first.
var Modes = []Mode{Open, Paused, Closed}

// modeNames are the modes as settings and programs spell them.
var modeNames = []string{Open: "open", Paused: "paused", Closed: "closed"}

// String is the mode's name: open, paused or closed.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "unknown"
}

// ParseMode is the mode of a name; known is false when there is none.
func ParseMode(name string) (m Mode, known bool) {
	i := slices.Index(modeNames, name)
	return Mode(max(i, 0)), i >= 0
}
