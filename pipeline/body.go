package pipeline

import (
	"io"
	"net/http"
	"time"
)

// Limits of what is read from a client whose answer is already sent, so that
// it can read the answer instead of seeing its connection reset.
const (
	drainBytes = 64 << 20
	drainTime  = 10 * time.Second
	// Banned clients get no more than fits the buffers that are full anyway.
	bannedDrainBytes = 1 << 20
	bannedDrainTime  = time.Second
)

// openBody lets an answer reach a client that is still sending its body, and
// returns that body; nil when there is none to care for. Without it, net/http
// reads up to 256 KiB of the body before it writes a header, however slowly
// the client sends. A client that waits for 100 Continue sends nothing before
// it has an answer.
func openBody(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	if r.ContentLength == 0 || r.ProtoMajor != 1 || r.Header["Expect"] != nil {
		return nil
	}
	if http.NewResponseController(w).EnableFullDuplex() != nil {
		return nil // not a connection of net/http's server: nothing to work around
	}
	return r.Body
}

// drain reads what the client is still sending. Closing a connection with
// unread data makes TCP reset it, and the client would lose the answer.
//
// The body is closed here, not left to net/http: in full duplex it would be
// closed after the server has stopped watching the connection, and meeting the
// body's end then starts a second reader.
func (v *Visit) drain() {
	if v.uploads == nil {
		return
	}
	most, within := int64(drainBytes), drainTime
	if v.Reason == Banned || v.Reason == Blocked {
		most, within = bannedDrainBytes, bannedDrainTime
	}
	c := http.NewResponseController(v.rec.ResponseWriter)
	if c.SetReadDeadline(time.Now().Add(within)) == nil && c.Flush() == nil {
		_, _ = io.CopyN(io.Discard, v.uploads, most) // whatever ends it, it is over
	}
	_ = v.uploads.Close() // reads no further than the deadline allows
}

// requestTarget is the request-target as it was sent: the origin gets the same
// bytes, so rules must see all of them. Cutting it here, at a '#' for one, would
// hide from the rules what some origin takes for a part of the path.
func requestTarget(r *http.Request) string {
	if r.RequestURI != "" {
		return r.RequestURI
	}
	return r.URL.EscapedPath() // an embedding program's own request
}
