package upstream

import "encoding/binary"

// WebSocket's close frame (RFC 6455, section 5.5.1) with status 1001, "going
// away": as a server sends it, and as a client does. A client must mask what
// it sends; with a mask of zeros the payload stays readable.
const (
	closeToClient = "\x88\x02\x03\xe9"
	closeToOrigin = "\x88\x82\x00\x00\x00\x00\x03\xe9"
)

const opClose = 8

// frames follows one direction of a WebSocket connection closely enough to
// know where a frame may be put in between: at a boundary, and before a close
// frame (RFC 6455, section 5.2).
type frames struct {
	head   [14]byte
	have   int    // bytes of head read so far
	left   uint64 // bytes of payload still to come
	closed bool   // a close frame has passed
}

// open reports whether a frame may be sent now.
func (f *frames) open() bool { return f.have == 0 && f.left == 0 && !f.closed }

// pass takes note of bytes that were sent.
func (f *frames) pass(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			f.left -= n
			p = p[n:]
			continue
		}
		f.head[f.have] = p[0]
		f.have++
		p = p[1:]
		if f.have >= 2 && f.have == f.headLen() {
			f.left = f.payload()
			f.have = 0
			f.closed = f.closed || f.head[0]&0xf == opClose
		}
	}
}

// headLen is the length of the head that begins with head[:2].
func (f *frames) headLen() int {
	n := 2
	switch f.head[1] & 0x7f {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if f.head[1]&0x80 != 0 {
		n += 4
	}
	return n
}

func (f *frames) payload() uint64 {
	switch short := f.head[1] & 0x7f; short {
	case 126:
		return uint64(binary.BigEndian.Uint16(f.head[2:]))
	case 127:
		return binary.BigEndian.Uint64(f.head[2:])
	default:
		return uint64(short)
	}
}
