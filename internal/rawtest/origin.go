package rawtest

import (
	"bufio"
	"net"
	"sync"
	"testing"
)

// Request is one request as the origin received it.
type Request struct {
	Head
	Conn     int      // the connection it came on, counted from 1
	Body     []byte   // what the script has read of the body, without framing
	RawBody  []byte   // the same, with framing
	Trailers []string // trailer lines in order
}

// Script answers one request. After it returns, the next request on the
// connection is read, unless the script closed it.
type Script func(x *Exchange)

// Origin is a scripted server on 127.0.0.1.
type Origin struct {
	t      testing.TB
	ln     net.Listener
	script Script
	done   sync.WaitGroup // the accept loop and one goroutine a connection

	mu       sync.Mutex // guards the fields below
	log      []*Request
	conns    map[net.Conn]bool
	accepted int
	busy     int
	peak     int
}

// NewOrigin starts an origin. It ends with the test.
func NewOrigin(t testing.TB, script Script) *Origin {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("rawtest: listen: %v", err)
	}
	return Serve(t, ln, script)
}

// Serve runs an origin on a listener of the caller's, which it closes when the
// test ends; a TLS listener makes an https origin.
func Serve(t testing.TB, ln net.Listener, script Script) *Origin {
	o := &Origin{t: t, ln: ln, script: script, conns: map[net.Conn]bool{}}
	o.done.Go(o.accept)
	t.Cleanup(o.Close)
	return o
}

// Reply is a script that reads the whole request and answers with exactly
// these bytes.
func Reply(response string) Script {
	return func(x *Exchange) {
		x.ReadBody()
		x.Write(response)
	}
}

// Addr is where the origin listens, as host:port.
func (o *Origin) Addr() string { return o.ln.Addr().String() }

// Requests returns the requests received so far, in the order their heads
// were read. Bodies hold what the scripts have read by now.
func (o *Origin) Requests() []Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]Request, len(o.log))
	for i, r := range o.log {
		out[i] = *r
	}
	return out
}

// Accepted is how many connections were made so far.
func (o *Origin) Accepted() int { o.mu.Lock(); defer o.mu.Unlock(); return o.accepted }

// Open is how many connections are open now.
func (o *Origin) Open() int { o.mu.Lock(); defer o.mu.Unlock(); return len(o.conns) }

// Peak is the most requests that were being answered at once.
func (o *Origin) Peak() int { o.mu.Lock(); defer o.mu.Unlock(); return o.peak }

// Close stops listening, cuts all connections and waits for the scripts.
func (o *Origin) Close() {
	_ = o.ln.Close()
	o.mu.Lock()
	for c := range o.conns {
		_ = c.Close()
	}
	o.mu.Unlock()
	o.done.Wait()
}

// accept ends when Close closes the listener.
func (o *Origin) accept() {
	for {
		c, err := o.ln.Accept()
		if err != nil {
			return
		}
		o.mu.Lock()
		o.accepted++
		number := o.accepted
		o.conns[c] = true
		o.mu.Unlock()
		o.done.Go(func() { o.serve(c, number) })
	}
}

// serve ends when the connection does; Close closes it at the latest.
func (o *Origin) serve(c net.Conn, number int) {
	defer func() {
		_ = c.Close()
		o.mu.Lock()
		delete(o.conns, c)
		o.mu.Unlock()
	}()
	r := bufio.NewReader(c)
	for {
		head, err := readHead(r)
		if err != nil {
			return
		}
		x := &Exchange{Request: &Request{Head: head, Conn: number}, origin: o, conn: c, r: r}
		o.begin(x.Request)
		o.script(x)
		o.mu.Lock()
		o.busy--
		o.mu.Unlock()
		if x.closed {
			return
		}
	}
}

func (o *Origin) begin(r *Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log = append(o.log, r)
	o.busy++
	o.peak = max(o.peak, o.busy)
}
