package handover

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// peers are the two ends of a hand-over.
func peers(t *testing.T) (predecessor, successor *peer) {
	t.Helper()
	a, b := net.Pipe()
	predecessor, successor = newPeer(a), newPeer(b)
	t.Cleanup(func() { predecessor.close(); successor.close() })
	return predecessor, successor
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("got error %v, want %q", err, part)
	}
}

func TestConversation(t *testing.T) {
	pre, suc := peers(t)
	given := Handed{State: make([]byte, 1<<20), InFlight: InFlight{Pages: 5, Assets: 6, Streams: 7}}
	given.State[1<<19] = 'x'
	left := make(chan error, 1)
	go func() { // ends with the conversation
		left <- errors.Join(pre.awaitReady(), pre.hand(given), pre.sendInFlight(InFlight{Pages: 1}))
		pre.close()
	}()
	p := &Process{peer: suc}
	got, err := p.TakeOver(t.Context())
	if err != nil || !got.InFlight.equal(given.InFlight) || string(got.State) != string(given.State) {
		t.Errorf("in flight %v, %d bytes, %v", got.InFlight, len(got.State), err)
	}
	seen := make(chan InFlight)
	if err := p.Serving(func(n InFlight) { seen <- n }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []InFlight{{Pages: 1}, {}} { // the last when it is gone
		if n := <-seen; !n.equal(want) {
			t.Errorf("in flight %v, want %v", n, want)
		}
	}
	if err := <-left; err != nil {
		t.Error(err)
	}
	p.Close()
}

func TestWithoutPredecessor(t *testing.T) {
	p, err := Join(Options{Args: os.Args[:1], Environ: []string{"A=1"}})
	if err != nil {
		t.Fatal(err)
	}
	if h, err := p.TakeOver(t.Context()); h.State != nil || err != nil || p.HasPredecessor() {
		t.Errorf("took over %v, %v", h, err)
	}
	if err := p.Serving(func(InFlight) { t.Error("something is in flight") }); err != nil {
		t.Error(err)
	}
	if got := p.Environ(); len(got) != 1 || got[0] != "A=1" || p.File("lock") != nil || p.CloseUnclaimed() != nil {
		t.Errorf("environment %q, or something inherited", got)
	}
	p.Close()
}

func TestBrokenConversations(t *testing.T) {
	tests := map[string]struct {
		say  func(p *peer) error
		hear func(p *peer) error
		want string
	}{
		"other version": {
			func(p *peer) error { return p.send(kindReady, []byte("2")) },
			(*peer).awaitReady, `version "2", not 1`,
		},
		"other message": {
			func(p *peer) error { return p.send(kindServing, nil) },
			(*peer).awaitReady, `got a message 'v'`,
		},
		"nothing": {
			func(p *peer) error { p.close(); return nil },
			(*peer).awaitReady, "the other process ended",
		},
		"half a head": {
			func(p *peer) error { _, err := p.conn.Write([]byte{kindReady, 0}); p.close(); return err },
			(*peer).awaitReady, "the other process ended",
		},
		"half a message": {
			func(p *peer) error { _, err := p.conn.Write([]byte{kindReady, 0, 0, 0, 9, '1'}); p.close(); return err },
			(*peer).awaitReady, "in the middle of a message",
		},
		"huge": {
			func(p *peer) error { _, err := p.conn.Write([]byte{kindReady, 255, 0, 0, 0}); return err },
			(*peer).awaitReady, "bytes, want",
		},
		"not JSON": {
			func(p *peer) error { return p.send(kindInFlight, []byte("{")) },
			func(p *peer) error { _, err := p.inFlight(); return err }, "JSON",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := peers(t)
			said := make(chan error, 1)
			go func() { said <- tt.say(a) }() // ends once it is heard
			wantError(t, tt.hear(b), tt.want)
			if err := <-said; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTakeOverEndsWithItsContext(t *testing.T) {
	_, suc := peers(t) // a predecessor that says nothing
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := (&Process{peer: suc}).TakeOver(ctx)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestPausedListener(t *testing.T) {
	p, err := Join(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := p.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error)
	go func() { // ends with the listener
		for {
			c, err := ln.Accept()
			accepted <- err
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	connect := func() {
		t.Helper()
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	connect()
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	for range 2 { // twice does no harm
		if err := p.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	connect()
	select {
	case err := <-accepted:
		t.Fatalf("accepted in a pause: %v", err)
	case <-time.After(20 * time.Millisecond): // long enough to catch it if it can happen
	}
	for range 2 {
		p.resume()
	}
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestListensOn(t *testing.T) {
	for _, tt := range []struct {
		have, network, addr string
		want                bool
	}{
		{"[::]:8080", "tcp", ":8080", true},
		{"0.0.0.0:8080", "tcp", ":8080", true},
		{"[::]:8080", "tcp", "0.0.0.0:8080", true},
		{"[::]:8080", "tcp", "127.0.0.1:8080", false},
		{"127.0.0.1:8080", "tcp", ":8080", false},
		{"127.0.0.1:8080", "tcp4", "127.0.0.1:8080", true},
		{"127.0.0.1:8080", "tcp", "127.0.0.2:8080", false},
		{"127.0.0.1:8080", "tcp", "127.0.0.1:8081", false},
		{"127.0.0.1:8080", "unix", "127.0.0.1:8080", false},
		{"127.0.0.1:8080", "tcp", "nonsense", false},
	} {
		have, err := net.ResolveTCPAddr("tcp", tt.have)
		if err != nil {
			t.Fatal(err)
		}
		if got := listensOn(have, tt.network, tt.addr); got != tt.want {
			t.Errorf("%s for %s %s: %v", tt.have, tt.network, tt.addr, got)
		}
	}
	if sock := (&net.UnixAddr{Name: "/run/x", Net: "unix"}); !listensOn(sock, "unix", "/run/x") || listensOn(sock, "unix", "/run/y") {
		t.Error("sockets in the file system")
	}
}
