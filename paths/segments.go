package paths

import "bytes"

// stream starts the name of an alternate data stream, by which Windows serves
// the file in front of it.
const stream = "::$"

// oddities names what segments may need resolving.
type oddities struct {
	empty bool // empty segments, but for the last
	dots  bool // "." and ".."
}

// appendSegments appends the segments of s, which starts with a slash, to the
// empty dst: trimmed as h has it, without empty segments and with dot segments
// resolved (RFC 3986, 5.2.4) as resolve has it. It reports what it met.
func appendSegments(dst, s []byte, h habits, resolve oddities) (path []byte, found oddities) {
	for last := false; !last; {
		s = s[1:] // the slash
		end := bytes.IndexByte(s, '/')
		if last = end < 0; last {
			end = len(s)
		}
		seg := h.trim(s[:end])
		s = s[end:]
		switch {
		case isDots(seg):
			found.dots = true
			if !resolve.dots {
				dst = append(append(dst, '/'), seg...)
				continue
			}
			if len(seg) == 2 {
				dst = dst[:max(0, bytes.LastIndexByte(dst, '/'))]
			}
			if last {
				dst = append(dst, '/')
			}
		case len(seg) == 0 && !last:
			found.empty = true
			if !resolve.empty {
				dst = append(dst, '/')
			}
		default:
			dst = append(append(dst, '/'), seg...)
		}
	}
	return dst, found
}

// trim removes from a segment what h drops.
func (h habits) trim(seg []byte) []byte {
	if h&dropsParams != 0 {
		if i := bytes.IndexByte(seg, ';'); i >= 0 {
			seg = seg[:i]
		}
	}
	if h&trimsNames == 0 {
		return seg
	}
	if i := bytes.Index(seg, []byte(stream)); i >= 0 {
		seg = seg[:i]
	}
	seg = bytes.TrimRight(seg, " ")
	if isDots(seg) {
		return seg
	}
	return bytes.TrimRight(seg, " .")
}

func isDots(seg []byte) bool {
	return len(seg) == 1 && seg[0] == '.' || len(seg) == 2 && seg[0] == '.' && seg[1] == '.'
}
