package listener

import (
	"net/http"
	"sync"
)

// gatherSize is how much a buffer for gathering begins with; what became larger
// than maxGathered is not kept.
const (
	gatherSize  = 10 << 10
	maxGathered = 32 << 10
)

var gatherBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, gatherSize)
	return &b
}}

// Gather has what is written to the request's connection from now on wait for
// Send, to leave in one piece: of an answer that its buffer does not hold,
// net/http's server makes two, and the kernel has to be called, the network to
// be asked and the client to be woken for each. It returns nil where that
// cannot be done: connections that several requests share, and those over TLS,
// on which others may have something to say in between.
//
// Only the request's handler may call it, and has to call Send before it
// returns.
func Gather(r *http.Request) interface{ Send() error } {
	if r.ProtoMajor != 1 || r.TLS != nil {
		return nil
	}
	h, ok := r.Context().Value(entryKey{}).(held)
	if !ok || h.conn == nil || h.conn.speech.Load() != plain {
		return nil
	}
	w := &h.conn.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gathered != nil {
		return nil
	}
	w.gathered = gatherBuffers.Get().(*[]byte)
	return h.conn
}

// keep puts p to what is gathered, and reports whether that is being done.
func (w *writing) keep(p []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gathered == nil {
		return false
	}
	*w.gathered = append(*w.gathered, p...)
	return true
}

// Send writes what was gathered, see Gather. The error is that of writing it.
func (c *guardedConn) Send() error {
	w := &c.writing
	w.mu.Lock()
	b := w.gathered
	w.gathered = nil
	w.mu.Unlock()
	if b == nil {
		return nil
	}
	var err error
	if len(*b) > 0 {
		_, err = c.Write(*b)
	}
	if cap(*b) <= maxGathered {
		*b = (*b)[:0]
		gatherBuffers.Put(b)
	}
	return err
}
