package listener

import (
	"bytes"
	"net/http"
	"sync"
)

// gatherSize is how much a buffer for gathering begins with, and headSize one
// for inserted fields; what became larger than maxGathered is not kept.
const (
	gatherSize  = 10 << 10
	headSize    = 1 << 10
	maxGathered = 32 << 10
)

var (
	gatherBuffers = sync.Pool{New: func() any { return newBuffer(gatherSize) }}
	headBuffers   = sync.Pool{New: func() any { return newBuffer(headSize) }}
)

func newBuffer(size int) *[]byte {
	b := make([]byte, 0, size)
	return &b
}

// giveBack puts a buffer back into its pool.
func giveBack(pool *sync.Pool, b *[]byte) {
	if cap(*b) <= maxGathered {
		*b = (*b)[:0]
		pool.Put(b)
	}
}

// Plain returns the connection of a request as its handler may use it, to spare
// the work that net/http's server makes of an answer. It is nil where that cannot
// be done: connections that several requests share, and those over TLS, on which
// others may have something to say in between.
//
// Only the request's handler may use it, and only until it returns.
func Plain(r *http.Request) interface {
	// Gather has what is written from now on wait for Send, to leave in one piece:
	// of an answer that its buffer does not hold, net/http's server makes two, and
	// the kernel has to be called, the network to be asked and the client to be
	// woken for each. It reports false when it is being done already.
	Gather() bool
	// Send writes what was gathered. It must be called before the handler returns.
	// The error is that of writing it.
	Send() error
	// Head is where fields are put, each a whole line, that go out behind the
	// first line of the answer. net/http's server, which copies, sorts and writes
	// its fields one by one, does not hear of them. It belongs to the caller until
	// the answer's status is written.
	Head() *[]byte
} {
	if r.ProtoMajor != 1 || r.TLS != nil {
		return nil
	}
	h, ok := r.Context().Value(entryKey{}).(held)
	if !ok || h.conn == nil || h.conn.speech.Load() != plain {
		return nil
	}
	return h.conn
}

// Gather implements what Plain says.
func (c *guardedConn) Gather() bool {
	w := &c.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gathered != nil {
		return false
	}
	w.gathered = gatherBuffers.Get().(*[]byte)
	return true
}

// Head implements what Plain says.
func (c *guardedConn) Head() *[]byte {
	w := &c.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head == nil {
		w.head = headBuffers.Get().(*[]byte)
	}
	return w.head
}

// kept is what became of a piece that is to be written.
type kept uint8

const (
	notKept  kept = iota // it is to be written as it is
	gathered             // it waits for Send
	complete             // it waits for Send, and nobody else will call that
)

// keep puts p to what is gathered, if that is being done or fields are to be
// inserted in it.
func (w *writing) keep(p []byte) kept {
	w.mu.Lock()
	defer w.mu.Unlock()
	inserts := w.head != nil && beginsAnswer(p)
	outcome := gathered
	if w.gathered == nil {
		if !inserts {
			return notKept
		}
		w.gathered, outcome = gatherBuffers.Get().(*[]byte), complete
	}
	if inserts {
		p = w.insertLocked(p)
	}
	*w.gathered = append(*w.gathered, p...)
	return outcome
}

// beginsAnswer reports whether p is the beginning of an answer, and not of one
// that only says that another will follow.
func beginsAnswer(p []byte) bool {
	const version, status = "HTTP/1.", len("HTTP/1.1 ")
	return len(p) > status && string(p[:len(version)]) == version && p[status] != '1'
}

// insertLocked gathers the first line of p and the fields that follow it, and
// returns the rest.
func (w *writing) insertLocked(p []byte) []byte {
	end := bytes.IndexByte(p, '\n') + 1
	*w.gathered = append(append(*w.gathered, p[:end]...), *w.head...)
	giveBack(&headBuffers, w.head)
	w.head = nil
	return p[end:]
}

// Send implements what Plain says.
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
	giveBack(&gatherBuffers, b)
	return err
}
