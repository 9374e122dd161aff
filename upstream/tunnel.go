package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// linger is how long a WebSocket may stay silent once one side has ended.
const linger = time.Second

// switched deals with a 101. Only one that was asked for, to the protocol that
// was asked for, becomes a tunnel.
func (e *exchange) switched(resp *http.Response, s *stream, wanted bool) error {
	origin, ok := resp.Body.(io.ReadWriteCloser)
	if !wanted || !ok || !pipeline.IsWebSocket(resp.Header.Get("Upgrade")) {
		_ = resp.Body.Close() // the origin now speaks we know not what
		return e.failure(errUnasked)
	}
	defer func() { _ = origin.Close() }() // at the latest when this ends
	protocol := resp.Header["Upgrade"]
	dropHops(resp.Header)
	h := e.v.W.Header()
	addAll(h, resp.Header)
	delete(h, "Content-Length") // a 101 has no body (RFC 9110, section 8.6)
	h["Connection"], h["Upgrade"] = []string{"Upgrade"}, protocol
	e.v.EditResponse(resp.StatusCode, h)
	e.p.dropOwn(h)

	conn, rw, err := e.rc.Hijack()
	if err != nil {
		return e.failure(fmt.Errorf("take the connection over: %w", err))
	}
	defer func() { _ = conn.Close() }()
	e.v.Hijacked(resp.StatusCode)
	if err := writeSwitch(conn, rw.Writer, h, e.p.cfg.WriteTimeout); err != nil {
		return e.clientGone(err)
	}
	t := &tunnel{
		toOrigin: direction{src: rw.Reader, dst: origin, farewell: closeToOrigin},
		toClient: direction{src: origin, dst: conn, farewell: closeToClient},
		client:   conn, patience: e.p.cfg.WriteTimeout, idle: e.p.cfg.StreamIdleTimeout,
	}
	e.p.streams.replace(s, t.stop)
	t.run(&e.p.buffers)
	return nil
}

// writeSwitch writes the 101.
func writeSwitch(conn net.Conn, w *bufio.Writer, h http.Header, patience time.Duration) error {
	if patience > 0 {
		_ = conn.SetWriteDeadline(time.Now().Add(patience)) // fails only on a closed connection, as the write will
	}
	_, _ = w.WriteString("HTTP/1.1 101 Switching Protocols\r\n") // errors stick until Flush
	_ = h.Write(w)
	_, _ = w.WriteString("\r\n")
	return w.Flush()
}

// tunnel carries a WebSocket both ways.
type tunnel struct {
	toOrigin, toClient direction
	client             net.Conn
	patience           time.Duration // for the client to take a piece; 0: for ever
	idle               time.Duration // both directions may be silent; 0: for ever

	mu    sync.Mutex // guards the fields below
	timer *time.Timer
	limit time.Duration // of silence now; 0: none
	last  time.Time     // something was carried, or limit changed
	ended bool          // stopped or over: silence is no longer broken
}

// direction is one half of a tunnel.
type direction struct {
	src      io.Reader
	dst      io.WriteCloser
	farewell string

	mu     sync.Mutex // guards the fields below, and writing to dst
	frames frames
	closed bool // the farewell was sent, or could not be: nothing may follow
}

// run ends when both directions have. The one to the origin has a goroutine of
// its own, which ends when client and origin are closed: by the caller's
// deferred calls at the latest.
func (t *tunnel) run(buffers *sync.Pool) {
	t.allow(t.idle)
	var both sync.WaitGroup
	both.Go(func() { t.carry(&t.toOrigin, buffers) })
	t.carry(&t.toClient, buffers)
	both.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.timer != nil {
		t.timer.Stop()
	}
}

// carry copies one direction. Its end is passed on; the other direction may go
// on as long as there is something to carry. An error ends both.
func (t *tunnel) carry(d *direction, buffers *sync.Pool) {
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	for {
		n, err := d.src.Read(buf[:])
		if n > 0 {
			t.alive()
			if werr := t.write(d, buf[:n]); werr != nil {
				err = werr
			}
		}
		switch {
		case err == io.EOF:
			t.allow(linger)
			if t.stopping() {
				t.bid(d) // the other side may answer its farewell before this one is sent
			} else {
				closeWrite(d.dst)
			}
			return
		case err != nil:
			t.cut()
			return
		}
	}
}

func (t *tunnel) write(d *direction, p []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil // read on, so that the other side's farewell is not met by a reset
	}
	if d == &t.toClient && t.patience > 0 {
		_ = t.client.SetWriteDeadline(time.Now().Add(t.patience)) // as in writeSwitch
	}
	_, err := d.dst.Write(p)
	d.frames.pass(p)
	return err
}

// closeWrite ends one direction of a connection; all of it, where it cannot do
// halves.
func closeWrite(c io.Closer) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = c.Close() // nobody is left to be told
}

// cut closes both connections. The client's is reset, so that a broken tunnel
// does not look like one that was closed.
func (t *tunnel) cut() {
	if tcp, ok := t.client.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0) // else it is closed the ordinary way
	}
	_ = t.client.Close()
	_ = t.toOrigin.dst.Close()
}

// allow sets how long the tunnel may be silent from now on.
func (t *tunnel) allow(limit time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || limit == 0 {
		return
	}
	if t.limit == 0 || limit < t.limit {
		t.limit = limit
	}
	t.last = time.Now()
	if t.timer == nil {
		t.timer = time.AfterFunc(t.limit, t.silent)
	} else {
		t.timer.Reset(t.limit)
	}
}

// alive notes that something was carried. The timer looks at it when it fires,
// which is cheaper than setting the timer for each piece.
func (t *tunnel) alive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.last = time.Now()
	}
}

// silent runs on the timer's goroutine.
func (t *tunnel) silent() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if left := t.limit - time.Since(t.last); left > 0 {
		t.timer.Reset(left)
		return
	}
	_ = t.client.Close() // unblocks run, which closes the rest
	_ = t.toOrigin.dst.Close()
}

// stop ends the tunnel without blocking: both sides are told, and have until
// linger to answer.
func (t *tunnel) stop() {
	t.allow(linger)
	t.mu.Lock()
	t.ended = true // what is still carried earns no more time
	t.mu.Unlock()
	for _, d := range []*direction{&t.toClient, &t.toOrigin} {
		go t.bid(d) // ends when its write does, at the latest when the timer closes both connections
	}
}

func (t *tunnel) stopping() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// bid sends the farewell, if the direction is between two frames, and ends it.
func (t *tunnel) bid(d *direction) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.frames.open() && !d.closed {
		_, _ = io.WriteString(d.dst, d.farewell) // a side that is gone needs none
	}
	d.closed = true
	closeWrite(d.dst)
}
