package pipeline

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestHeldThingsComeBackLastFirst holds invariant 5 for every way a visit ends.
func TestHeldThingsComeBackLastFirst(t *testing.T) {
	cases := map[string]originFunc{
		"served":   ok,
		"refused":  func(*Visit) error { return &Refusal{Reason: OriginDown} },
		"aborted":  func(*Visit) error { panic(http.ErrAbortHandler) },
		"panicked": func(*Visit) error { panic("a bug") },
		"cut": func(v *Visit) error {
			v.W.WriteHeader(200)
			return &Refusal{Reason: OriginDown}
		},
		"hijacked": func(v *Visit) error { v.Hijacked(101); return nil },
	}
	for name, origin := range cases {
		t.Run(name, func(t *testing.T) {
			r := &released{}
			func() {
				defer func() { _ = recover() }()
				get(build(t, origin, holding(r, 1, 2, 3)))
			}()
			if len(r.tokens) != 3 || r.tokens[0] != 3 || r.tokens[2] != 1 {
				t.Fatalf("released %v, want [3 2 1]", r.tokens)
			}
		})
	}
}

func TestPanicBeforeTheHeaderIsAnInternalError(t *testing.T) {
	w := get(build(t, originFunc(func(*Visit) error { panic("a bug") })))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "a bug") {
		t.Fatalf("%d %q: want a 500 that hides the text", w.Code, w.Body)
	}
}

func TestFailureAfterTheHeaderCutsTheConnection(t *testing.T) {
	p := build(t, originFunc(func(v *Visit) error {
		_, _ = io.WriteString(v.W, "half a pa")
		return &Refusal{Reason: OriginDown}
	}))
	srv := httptest.NewServer(p)
	defer srv.Close()
	resp, err := http.Get(srv.URL)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Fatal("the client took a truncated response for a whole one")
	}
}

func TestUnknownErrorsAreInternalAndHidden(t *testing.T) {
	fail := stub{"fail", AllClasses, func(*Visit) (Verdict, error) { return Next, errors.New("secret detail") }}
	w := get(build(t, originFunc(ok), fail))
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Fatalf("%d %q", w.Code, w.Body)
	}
}

// TestSlotIsHeldUntilTheClientHasTheResponse proves that flushing comes before
// releasing: over a synchronous pipe a client that does not read keeps the slot.
// "After delivery" in invariant 5 is this.
func TestSlotIsHeldUntilTheClientHasTheResponse(t *testing.T) {
	var held atomic.Bool
	freed := make(chan struct{})
	take := stub{"take", AllClasses, func(v *Visit) (Verdict, error) {
		held.Store(true)
		v.Hold(releaseFunc(func() { held.Store(false); close(freed) }), 0)
		return Next, nil
	}}
	written := make(chan struct{})
	p := build(t, originFunc(func(v *Visit) error {
		v.W.Header().Set("Content-Length", "6")
		err := ok(v)
		close(written)
		return err
	}), take)
	client, server := net.Pipe()
	srv := &http.Server{Handler: p}
	ln := &oneConn{conn: server, done: make(chan struct{})}
	go srv.Serve(ln) // ends with Close below
	defer srv.Close()
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-written
	if !held.Load() {
		t.Fatal("the slot was free although the client has read nothing")
	}
	buf := make([]byte, 4096)
	got := ""
	for !strings.HasSuffix(got, "origin") {
		n, err := client.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	<-freed
	if !strings.Contains(got, "Content-Length: 6") {
		t.Fatalf("flushing changed the framing:\n%s", got)
	}
}

type releaseFunc func()

func (f releaseFunc) Release(*Visit, uint64) { f() }

// oneConn is a listener that has one connection to give.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}
func (l *oneConn) Close() error   { close(l.done); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestNobodyGetsAnInventedAnswer: a client that closed its sending side counts
// as gone, and must not read a 200 that nobody gave.
func TestNobodyGetsAnInventedAnswer(t *testing.T) {
	gone := stub{"gone", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: ClientGone} }}
	srv := httptest.NewServer(build(t, originFunc(ok), gone))
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	got, err := io.ReadAll(c)
	if len(got) != 0 {
		t.Fatalf("%q, %v: want nothing at all", got, err)
	}
}

// TestRefusedUploadsCanReadTheirAnswer sends a body at full speed to a stage
// that refuses at once.
func TestRefusedUploadsCanReadTheirAnswer(t *testing.T) {
	refuse := stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: LineFull} }}
	srv := httptest.NewServer(build(t, originFunc(ok), refuse))
	defer srv.Close()
	for _, size := range []int64{1, 2 << 20, 20 << 20} {
		req, _ := http.NewRequest("POST", srv.URL, io.LimitReader(endless{}, size))
		req.ContentLength = size
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		resp.Body.Close()
		if resp.StatusCode != 503 {
			t.Fatalf("%d bytes: status %d", size, resp.StatusCode)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRefusalDoesNotWaitForASlowBody(t *testing.T) {
	refuse := stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: LineFull} }}
	srv := httptest.NewServer(build(t, originFunc(ok), refuse))
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx")
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	buf := make([]byte, 64)
	n, err := c.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 503") {
		t.Fatalf("%q, %v: want the answer before the body is complete", buf[:n], err)
	}
}
