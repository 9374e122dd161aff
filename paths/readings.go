package paths

import (
	"bytes"
	"math/bits"
	"strings"
)

// habits is a set of things an origin may do to a path beyond decoding it once.
type habits uint8

const (
	decodesAgain    habits = 1 << iota // %252e is a dot, and so is overlong UTF-8
	splitsEncoded                      // %2F is a separator
	splitsBackslash                    // \ is a separator
	dropsParams                        // ;x is no part of a segment
	cutsControls                       // the path ends at a control character
	cutsMarks                          // the path ends at a decoded # or ?
	dropsControls                      // control characters are no part of the path
	trimsNames                         // as Windows: no trailing dots and spaces, no ::$DATA
)

// maxWork bounds the bytes written while a path is read in all its ways, and
// with them the time: about half a millisecond. A path of 8 KiB may give cause
// for three habits, one of 256 bytes for all of them.
const maxWork = 64 << 10

// readAll reads the path of target, which starts with a slash, in every way
// it gives cause for.
func readAll(target string) Path {
	raw, _, _ := strings.Cut(target, "?")
	scratch := make([]byte, 2*len(raw))
	c := collector{decoded: scratch[:0:len(raw)], resolved: scratch[len(raw):len(raw)]}
	cause := c.survey(raw)
	if len(raw)<<bits.OnesCount8(uint8(cause)) > maxWork {
		return Path{Kind: Unreadable}
	}
	for h := cause; ; h = (h - 1) & cause { // every subset, the whole set first
		c.add(raw, h)
		if h == 0 {
			break
		}
	}
	return c.path(raw)
}

// collector gathers the readings of one path.
type collector struct {
	readings []string            // the first is the clean one
	seen     map[string]struct{} // the same, once there is more than one
	crafted  bool
	decoded  []byte // scratch, as is the next; neither outgrows the path
	resolved []byte
}

// survey returns the habits that could change how raw is read, and notes
// whether it holds what no honest client sends. Naming a habit too many costs
// time only.
func (c *collector) survey(raw string) (cause habits) {
	once := appendDecoded(c.resolved, raw, splitsEncoded)
	fully := appendDecoded(c.decoded, raw, splitsEncoded|decodesAgain)
	if !bytes.Equal(once, fully) {
		cause |= decodesAgain
		c.crafted = hasOverlong(once)
	}
	if !bytes.Equal(fully, appendDecoded(once[:0], raw, decodesAgain)) {
		cause |= splitsEncoded
	}
	for i, b := range fully {
		switch {
		case b == '\\':
			cause |= splitsBackslash
			c.crafted = true
		case b == ';':
			cause |= dropsParams
		case isControl(b):
			cause |= cutsControls | dropsControls
			c.crafted = true
		case b == '#' || b == '?':
			cause |= cutsMarks
		case b == ':' && bytes.HasPrefix(fully[i:], []byte(stream)), trails(fully, i):
			cause |= trimsNames
		}
	}
	return cause
}

// trails reports whether s[i] is a dot or space that may be the last of a name.
func trails(s []byte, i int) bool {
	if s[i] != '.' && s[i] != ' ' {
		return false
	}
	if i+1 == len(s) {
		return true
	}
	next := s[i+1]
	return isControl(next) || strings.IndexByte("/\\;#?:. ", next) >= 0
}

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

// add reads raw as an origin with the habits h does, in as many ways as empty
// and dot segments allow.
func (c *collector) add(raw string, h habits) {
	c.decoded = appendDecoded(c.decoded[:0], raw, h)
	c.decoded = h.rewrite(c.decoded)
	var found oddities
	c.resolved, found = appendSegments(c.resolved[:0], c.decoded, h, oddities{empty: true, dots: true})
	c.keep()
	c.crafted = c.crafted || found.dots
	for _, undo := range []oddities{{empty: true}, {dots: true}, {}} {
		// Leaving alone what is not there gives nothing new.
		if (undo.empty || found.empty) && (undo.dots || found.dots) {
			c.resolved, _ = appendSegments(c.resolved[:0], c.decoded, h, undo)
			c.keep()
		}
	}
}

// keep stores the reading in c.resolved unless it is known.
func (c *collector) keep() {
	switch len(c.readings) {
	case 0:
		c.readings = append(c.readings, string(c.resolved))
		return
	case 1: // usual: most readings come out alike
		if c.readings[0] == string(c.resolved) {
			return
		}
		c.seen = map[string]struct{}{c.readings[0]: {}}
	}
	if _, known := c.seen[string(c.resolved)]; !known {
		r := string(c.resolved)
		c.seen[r] = struct{}{}
		c.readings = append(c.readings, r)
	}
}

func (c *collector) path(raw string) Path {
	p := Path{Clean: c.readings[0], upper: true}
	switch {
	case c.crafted:
		p.Kind = Crafted
	case len(c.readings) > 1:
		p.Kind = Ambiguous
	case p.Clean != raw:
		p.Kind = Spelled
	}
	if len(c.readings) > 1 {
		p.readings = c.readings
	}
	return p
}
