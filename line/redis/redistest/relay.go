package redistest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Relay stands between a client and a server, and can cut the way between them
// as a network does: nothing is refused, and nothing arrives. What was under
// way arrives late, when the way is mended.
type Relay struct {
	Addr   string // where the client connects to
	target string
	ln     net.Listener
	wg     sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	open   chan struct{}
	closed bool
	conns  []net.Conn
}

// StartRelay relays to a server until the test ends.
func StartRelay(t testing.TB, target string) *Relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start a relay: %v", err)
	}
	r := &Relay{Addr: ln.Addr().String(), target: target, ln: ln, open: make(chan struct{})}
	close(r.open)
	r.wg.Go(r.accept) // ends with the listener
	t.Cleanup(r.close)
	return r
}

// URL is where the server is, by way of the relay.
func (r *Relay) URL() string { return "redis://" + r.Addr }

// Cut has nothing arrive any more.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = make(chan struct{})
}

// Mend undoes Cut.
func (r *Relay) Mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.open:
	default:
		close(r.open)
	}
}

func (r *Relay) close() {
	r.ln.Close()
	r.mu.Lock()
	r.closed = true
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.Mend()
	r.wg.Wait()
}

// gate is closed while the way is open.
func (r *Relay) gate() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// keep has a connection end with the relay.
func (r *Relay) keep(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.Close()
	}
	r.conns = append(r.conns, c)
}

func (r *Relay) accept() {
	for {
		from, err := r.ln.Accept()
		if err != nil {
			return
		}
		r.keep(from)
		r.wg.Go(func() { r.serve(from) }) // ends with the connection
	}
}

func (r *Relay) serve(from net.Conn) {
	defer from.Close()
	<-r.gate()
	to, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	defer to.Close()
	r.keep(to)
	done := make(chan struct{})
	go func() { // ends with either connection
		defer close(done)
		r.copy(from, to)
		from.Close()
	}()
	r.copy(to, from)
	to.Close()
	<-done
}

func (r *Relay) copy(to io.Writer, from io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		<-r.gate()
		if _, failed := to.Write(buf[:n]); failed != nil || err != nil {
			return
		}
	}
}
