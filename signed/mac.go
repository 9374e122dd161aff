package signed

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

const (
	macSize = sha256.Size / 2
	maxBody = 1 + idSize + MaxPayload // what a MAC is computed over
	maxRaw  = maxBody + macSize
)

// macs computes the MACs of one key: HMAC-SHA256 (RFC 2104). What that needs is
// kept from one to the next, as making it allocates; crypto/hmac also keeps what
// it has hashed of the key by then, which halves the work. The zero value is not
// usable: see newMACs.
type macs struct{ pool sync.Pool }

// macState is for one MAC at a time.
type macState struct {
	hash hash.Hash
	body [maxBody]byte
	sum  [sha256.Size]byte
}

func newMACs(key []byte) *macs {
	return &macs{sync.Pool{New: func() any { return &macState{hash: hmac.New(sha256.New, key)} }}}
}

// of returns the MAC over body, of at most maxBody bytes.
func (m *macs) of(body []byte) [sha256.Size]byte {
	s := m.pool.Get().(*macState)
	s.hash.Reset()
	// A copy, as whatever is handed to a hash.Hash would leave the caller's stack.
	_, _ = s.hash.Write(s.body[:copy(s.body[:], body)]) // documented never to fail
	s.hash.Sum(s.sum[:0])
	sum := s.sum
	m.pool.Put(s)
	return sum
}
