package cookies

import "strings"

// StripLine removes every cookie with one of names from a line of the header. A
// name stands for those that go on behind it with a dot, too: "a" for "a.b".
// What stays is byte for byte as it was: a cookie goes with the semicolon before
// it, or after it when it comes first. The rest is empty when only separators
// are left.
func StripLine(line string, names []string) (rest string, changed bool) {
	var out pieces
	start := 0 // of the piece being kept, with the semicolon before it
	for pos := 0; pos <= len(line); {
		end := len(line)
		if i := strings.IndexByte(line[pos:], ';'); i >= 0 {
			end = pos + i
		}
		if name, _ := split(line[pos:end]); isOne(names, name) {
			changed = true
			out.add(line, start, pos-1)
			start = end
		}
		pos = end + 1
	}
	if !changed {
		return line, false
	}
	out.add(line, start, len(line))
	if rest = out.join(); strings.Trim(rest, "; \t\r\n") == "" {
		rest = ""
	}
	return rest, true
}

// isOne reports whether name is one of names, or one of them with a suffix
// behind a dot.
func isOne(names []string, name string) bool {
	for _, n := range names {
		if strings.HasPrefix(name, n) && (len(name) == len(n) || name[len(n)] == '.') {
			return true
		}
	}
	return false
}

// pieces puts parts of a line together. As long as there is one only, it is
// a part of the line still, and costs nothing.
type pieces struct {
	first string
	all   []byte
}

// add adds line[from:to] if there is such a piece. One that becomes the first
// loses its leading separator.
func (p *pieces) add(line string, from, to int) {
	if from >= to {
		return
	}
	piece := line[from:to]
	switch {
	case p.first == "":
		if from > 0 {
			piece = strings.TrimLeft(piece[1:], " \t")
		}
		p.first = piece
	case p.all == nil:
		p.all = make([]byte, 0, len(line))
		p.all = append(append(p.all, p.first...), piece...)
	default:
		p.all = append(p.all, piece...)
	}
}

func (p *pieces) join() string {
	if p.all == nil {
		return p.first
	}
	return string(p.all)
}
