package blackbox

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// attacker is where those who mean no good come from, bystander where the
// others do.
const (
	attacker  = "127.0.0.2"
	bystander = "127.0.0.3"
)

// dialTLS connects from an address; the protocol is h2 unless said otherwise.
func dialTLS(t *testing.T, source, address string, protocols ...string) net.Conn {
	t.Helper()
	if protocols == nil {
		protocols = []string{"h2"}
	}
	d := &tls.Dialer{
		NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: rawtest.Patience},
		Config:    &tls.Config{InsecureSkipVerify: true, ServerName: "site.test", NextProtos: protocols}, // made for the test a moment ago
	}
	c, err := d.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * rawtest.Patience))
	return c
}

// peer2 speaks HTTP/2 frame by frame.
type peer2 struct {
	conn   net.Conn
	frames *http2.Framer
	block  bytes.Buffer
	hpack  *hpack.Encoder
	stream uint32 // the last one opened
	ended  chan struct{}
	// seen counts what came by type; resets those by their error.
	mu     sync.Mutex // guards the fields below
	seen   map[http2.FrameType]int
	resets map[http2.ErrCode]int
	goAway *http2.GoAwayFrame
	tunnel bool // extended CONNECT is offered (RFC 8441)
}

// dialFrames begins a connection. Without reading, what the server says stays
// in the kernel.
func dialFrames(t *testing.T, address string, reading bool, settings ...http2.Setting) *peer2 {
	t.Helper()
	c := dialTLS(t, attacker, address)
	p := &peer2{conn: c, frames: http2.NewFramer(c, c), ended: make(chan struct{}), seen: map[http2.FrameType]int{}, resets: map[http2.ErrCode]int{}}
	p.frames.AllowIllegalWrites = true
	p.hpack = hpack.NewEncoder(&p.block)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := p.frames.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	if reading {
		go p.read() // ends with the connection
	}
	return p
}

func (p *peer2) read() {
	defer close(p.ended)
	for {
		f, err := p.frames.ReadFrame()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.seen[f.Header().Type]++
		switch f := f.(type) {
		case *http2.RSTStreamFrame:
			p.resets[f.ErrCode]++
		case *http2.GoAwayFrame:
			p.goAway = f
		case *http2.SettingsFrame:
			_, p.tunnel = f.Value(http2.SettingEnableConnectProtocol)
		}
		p.mu.Unlock()
	}
}

// open sends a request header. Its errors, and those of what follows, mean that
// the server has ended the connection.
func (p *peer2) open(method, path string, ends bool, more ...hpack.HeaderField) error {
	p.block.Reset()
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "site.test"}, {Name: ":path", Value: path},
	}, more...) {
		_ = p.hpack.WriteField(f) // to memory
	}
	p.stream = p.next()
	return p.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: p.stream, BlockFragment: p.block.Bytes(), EndStream: ends, EndHeaders: true})
}

// next is the stream that open will use: clients have the odd ones.
func (p *peer2) next() uint32 { return (p.stream + 1) | 1 }

// raw2 sends a frame of any kind.
func (p *peer2) raw2(kind http2.FrameType, flags http2.Flags, stream uint32, payload []byte) error {
	return p.frames.WriteRawFrame(kind, flags, stream, payload)
}

// isOver reports whether the server has ended the connection.
func (p *peer2) isOver() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// TestWebSocketsAreNotOfferedOverHTTP2: nobody is told that they are, so
// browsers use HTTP/1.1 for them; who tries all the same harms one stream.
func TestWebSocketsAreNotOfferedOverHTTP2(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := startSecure(t, o.Addr(), "-stream-paths", "/ws")
	c := dialFrames(t, p.Addr, true)
	if err := c.open("CONNECT", "/ws", false, hpack.HeaderField{Name: ":protocol", Value: "websocket"}, hpack.HeaderField{Name: "sec-websocket-version", Value: "13"}); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "it is refused", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.resets[http2.ErrCodeProtocol] == 1
	})
	if err := c.open("GET", "/", true); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "the next request is answered", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.seen[http2.FrameHeaders] == 1
	})
	if c.mu.Lock(); c.tunnel || c.goAway != nil {
		t.Errorf("extended CONNECT offered: %v; GOAWAY %v", c.tunnel, c.goAway)
	}
	c.mu.Unlock()
	if n := len(o.Requests()); n != 1 {
		t.Errorf("the origin saw %d requests, want the page alone", n)
	}
}
