package pass

import (
	"encoding/binary"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// A pass's payload: id (16 bytes) | expiry, unix seconds (8) | lifetime it was
// issued with, seconds (4); numbers are big-endian.
const payloadSize = 16 + 8 + 4

// skew is how far apart the clocks of two instances may be.
const skew = 60 // seconds

// token is the content of an authentic pass.
type token struct {
	id       [16]byte
	expires  int64 // unix seconds
	lifetime int64 // seconds
}

// newToken returns a pass that is valid for ttl from now on.
func newToken(id [16]byte, now time.Time, ttl time.Duration) token {
	seconds := int64(ttl / time.Second)
	return token{id: id, expires: now.Unix() + seconds, lifetime: seconds}
}

// appendPayload appends the pass's payload to dst.
func (t token) appendPayload(dst []byte) []byte {
	dst = append(dst, t.id[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.expires))
	return binary.BigEndian.AppendUint32(dst, uint32(t.lifetime))
}

// parsePayload reads what appendPayload wrote; anything else is not ours.
func parsePayload(p []byte) (t token, ok bool) {
	if len(p) != payloadSize {
		return token{}, false
	}
	copy(t.id[:], p)
	t.expires = int64(binary.BigEndian.Uint64(p[16:]))
	t.lifetime = int64(binary.BigEndian.Uint32(p[24:]))
	return t, true
}

// state tells a valid pass from one that is over. So is one with more time
// left than it was given: it was issued by a clock that has since been set
// back, and would otherwise outlive its TTL by that much.
func (t token) state(now int64) pipeline.PassState {
	if left := t.expires - now; left <= 0 || left > t.lifetime+skew {
		return pipeline.PassExpired
	}
	return pipeline.PassValid
}

// slides reports whether half of the pass's life or less is left.
func (t token) slides(now int64) bool {
	return 2*(t.expires-now) <= t.lifetime
}
