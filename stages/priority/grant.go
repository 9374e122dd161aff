package priority

import (
	"encoding/binary"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// A grant's payload: pass id (16 bytes) | rank (1) | issued, unix milliseconds
// (8) | expiry, unix seconds (8); numbers are big-endian.
const payloadSize = 16 + 1 + 8 + 8

// skew is how far ahead of ours another instance's clock may be.
const skew = time.Minute

// grant is the content of an authentic concert_priority cookie.
type grant struct {
	pass    [16]byte
	rank    pipeline.Rank
	issued  int64 // unix milliseconds
	expires int64 // unix seconds
}

func (g *grant) appendPayload(dst []byte) []byte {
	dst = append(dst, g.pass[:]...)
	dst = append(dst, byte(g.rank))
	dst = binary.BigEndian.AppendUint64(dst, uint64(g.issued))
	return binary.BigEndian.AppendUint64(dst, uint64(g.expires))
}

// parsePayload reads what appendPayload wrote; anything else is not ours.
func parsePayload(p []byte) (g grant, ok bool) {
	if len(p) != payloadSize || p[16] >= byte(pipeline.NumRanks) {
		return grant{}, false
	}
	copy(g.pass[:], p)
	g.rank = pipeline.Rank(p[16])
	g.issued = int64(binary.BigEndian.Uint64(p[17:]))
	g.expires = int64(binary.BigEndian.Uint64(p[25:]))
	return g, true
}

// counts reports whether the grant is one for the pass and in force. One from
// the future was issued by a clock that has since been set back, and would
// beat every newer grant.
func (g *grant) counts(pass [16]byte, now time.Time) bool {
	return g.pass == pass && now.Unix() < g.expires && g.issued <= now.Add(skew).UnixMilli()
}

// granted returns the newest grant in force that the request brings for its
// pass, and whether there is one. Whether a newer one was issued meanwhile is
// not looked at.
func (s *Stage) granted(c *settings, v *pipeline.Visit) (best grant, ok bool) {
	if v.Pass.State != pipeline.PassValid && v.Pass.State != pipeline.PassExpired {
		return grant{}, false
	}
	for value := range cookies.Each(v.R.Header, c.cookieName) {
		var buf [payloadSize]byte
		payload, verdict := c.Grants.Open(buf[:0], value)
		if verdict != signed.Valid {
			continue
		}
		g, known := parsePayload(payload)
		if known && g.counts(v.Pass.ID, v.Start) && (!ok || g.issued > best.issued) {
			best, ok = g, true
		}
	}
	return best, ok
}
