package signed

import "crypto/sha256"

const (
	macSize = sha256.Size / 2
	maxBody = 1 + idSize + MaxPayload // what a MAC is computed over
)

// scratch is the input of HMAC's inner hash: the padded key, then the body.
// Callers keep it on their stack and write the body straight into it.
type scratch struct {
	buf [sha256.BlockSize + maxBody + macSize]byte
}

// raw returns the room behind the padded key, for a whole token.
func (s *scratch) raw() []byte { return s.buf[sha256.BlockSize:] }

// pads are a key's two padded forms (RFC 2104, section 2), made once.
type pads struct {
	inner, outer [sha256.BlockSize]byte
}

// newPads pads key, which must not be longer than a block.
func newPads(key []byte) (p pads) {
	copy(p.inner[:], key)
	copy(p.outer[:], key)
	for i := range p.inner {
		p.inner[i] ^= 0x36
		p.outer[i] ^= 0x5c
	}
	return p
}

// mac returns HMAC-SHA256 over the first n bytes of s.raw(). It is written out
// here because crypto/hmac allocates its state; the hash itself is
// crypto/sha256's.
func (p *pads) mac(s *scratch, n int) [sha256.Size]byte {
	copy(s.buf[:], p.inner[:])
	inner := sha256.Sum256(s.buf[:sha256.BlockSize+n])
	var outer [sha256.BlockSize + sha256.Size]byte
	copy(outer[:], p.outer[:])
	copy(outer[sha256.BlockSize:], inner[:])
	return sha256.Sum256(outer[:])
}
