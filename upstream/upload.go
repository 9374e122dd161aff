package upstream

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// uploadGrace is how long an answer that was read to its end waits for the
// request to have been sent, before the connection is given up instead.
const uploadGrace = 50 * time.Millisecond

// upload sends a request's body while the answer is awaited. Its goroutine ends
// with the body, or with the connection; at the latest when the visitor's body
// fails, which the server sees to after Serve.
type upload struct {
	l    *link
	body *requestBody
	size int64 // -1: chunked

	once sync.Once
	wait chan struct{} // closed when a body that is expected may be sent; nil when it need not wait
	stop chan struct{} // closed with the final answer: nobody wants it any more
	done chan struct{} // closed when all is sent or failed; err is set before
	err  error

	refused bool // the origin takes no more; it may still answer
}

func startUpload(l *link) *upload {
	e := l.e
	u := &upload{l: l, body: &e.body, size: e.r.ContentLength, done: make(chan struct{})}
	if e.expects {
		u.wait, u.stop = make(chan struct{}), make(chan struct{})
	}
	go u.run(&e.p.buffers) // ends when all is sent, or the origin takes no more
	return u
}

// proceed says that the origin wants the body. It may be nil.
func (u *upload) proceed() {
	if u != nil && u.wait != nil {
		u.once.Do(func() { close(u.wait) })
	}
}

// decline says that the origin has answered without it. It may be nil.
func (u *upload) decline() {
	if u != nil && u.wait != nil {
		u.once.Do(func() { close(u.stop) })
	}
}

// over reports whether there is nothing to send any more. u may be nil.
func (u *upload) over() bool {
	if u == nil {
		return true
	}
	select {
	case <-u.done:
		return u.err == nil
	default:
		return false
	}
}

// whole reports whether the body is sent to its end.
func (u *upload) whole() bool {
	grace := time.NewTimer(uploadGrace)
	defer grace.Stop()
	select {
	case <-u.done:
		return u.err == nil
	case <-grace.C:
		return false
	}
}

func (u *upload) run(buffers *sync.Pool) {
	defer close(u.done)
	if !u.wanted() {
		u.err = errBodyOver
		return
	}
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	if u.err = u.send(buf); u.err != nil && !u.refused {
		u.l.close() // the origin must not wait for more, nor take it for whole
	}
	_ = u.body.Close()
}

// wanted waits for the origin's 100 Continue, but not for ever.
func (u *upload) wanted() bool {
	if u.wait == nil {
		return true
	}
	limit := time.NewTimer(continueWait)
	defer limit.Stop()
	select {
	case <-u.wait:
		return true
	case <-limit.C:
		return true
	case <-u.stop:
		return false
	}
}

// send copies the body. Each piece goes out as it comes.
func (u *upload) send(buf *buffer) error {
	const room = len("ffff\r\n") // before a chunk, and two bytes behind it
	sent := int64(0)
	for {
		n, err := u.body.Read(buf[room : len(buf)-2])
		if n > 0 {
			sent += int64(n)
			if werr := u.piece(buf, room, n); werr != nil {
				return werr
			}
		}
		switch {
		case err == io.EOF && u.size >= 0 && sent < u.size:
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return u.end()
		case err != nil:
			return err
		}
	}
}

// piece sends buf[room:room+n].
func (u *upload) piece(buf *buffer, room, n int) error {
	p := buf[room : room+n]
	if u.size < 0 {
		size := fmt.Appendf(nil, "%x\r\n", n)
		copy(buf[room-len(size):], size)
		copy(buf[room+n:], "\r\n")
		p = buf[room-len(size) : room+n+2]
	}
	return u.write(p)
}

// end sends the last chunk and the trailers that were announced and came.
func (u *upload) end() error {
	if u.size >= 0 {
		return nil
	}
	b := []byte("0\r\n")
	for _, name := range u.body.trailerNames() {
		for _, value := range u.body.trailer[name] {
			if breaks(value) {
				return errRequestField
			}
			b = append(append(append(append(b, name...), ": "...), value...), '\r', '\n')
		}
	}
	return u.write(append(b, '\r', '\n'))
}

func (u *upload) write(p []byte) error {
	_, err := u.l.socket.Write(p)
	u.refused = err != nil
	return err
}
