package paths

// keptSlash stands for an encoded slash that is no separator.
const keptSlash = "%2F"

// appendDecoded appends s to dst with percent-escapes decoded. What is no
// escape is literal. With decodesAgain the result holds no escape at all,
// however deep, in time linear in s.
func appendDecoded(dst []byte, s string, h habits) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if v, ok := unhex(s[i+1], s[i+2]); ok {
				i += 2
				if v == '/' && h&splitsEncoded == 0 {
					dst = append(dst, keptSlash...)
					continue
				}
				c = v
			}
		}
		dst = append(dst, c)
		if h&decodesAgain != 0 {
			dst = settle(dst, h)
		}
	}
	return dst
}

// settle decodes the end of dst for as long as it is encoded: its last byte may
// have completed an escape, and the byte that stands for another one.
func settle(dst []byte, h habits) []byte {
	for {
		v, n := encodedTail(dst)
		if n == 0 {
			return dst
		}
		dst = dst[:len(dst)-n]
		if v == '/' && h&splitsEncoded == 0 {
			return append(dst, keptSlash...)
		}
		dst = append(dst, v)
	}
}

// encodedTail returns the byte that the last n bytes of b stand for, as an
// escape or as overlong UTF-8; n is 0 when they stand for themselves.
func encodedTail(b []byte) (v byte, n int) {
	l := len(b)
	if l >= 3 && b[l-3] == '%' {
		if v, ok := unhex(b[l-2], b[l-1]); ok {
			return v, 3
		}
	}
	if l < 2 || b[l-1]&0xc0 != 0x80 {
		return 0, 0
	}
	low := b[l-1] & 0x3f
	switch lead := b[l-2]; {
	case lead == 0xc0 || lead == 0xc1:
		return lead&1<<6 | low, 2
	case l >= 3 && b[l-3] == 0xe0 && lead&0xfe == 0x80:
		return lead&1<<6 | low, 3
	}
	return 0, 0
}

// hasOverlong reports whether s holds ASCII written as overlong UTF-8.
func hasOverlong(s []byte) bool {
	for i := range s {
		if v, n := encodedTail(s[:i+1]); n > 0 && s[i] >= 0x80 && v < 0x80 {
			return true
		}
	}
	return false
}

func unhex(hi, lo byte) (byte, bool) {
	h, ok1 := nibble(hi)
	l, ok2 := nibble(lo)
	return h<<4 | l, ok1 && ok2
}

func nibble(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// rewrite applies, in place, the habits that concern the path as a whole.
func (h habits) rewrite(s []byte) []byte {
	out := s[:0]
	for _, c := range s {
		switch {
		case isControl(c) && h&cutsControls != 0, (c == '#' || c == '?') && h&cutsMarks != 0:
			return out
		case isControl(c) && h&dropsControls != 0:
			continue
		case c == '\\' && h&splitsBackslash != 0:
			c = '/'
		}
		out = append(out, c)
	}
	return out
}
