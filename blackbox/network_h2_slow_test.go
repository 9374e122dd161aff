package blackbox

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

func attackUnread(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, false)
	sent := 0
	for ; sent < 5_000_000; sent++ {
		if c.frames.WritePing(false, [8]byte{}) != nil {
			break
		}
	}
	if sent == 5_000_000 {
		t.Error("five million pings, none of whose answers was read, and the connection is open")
	}
}

func attackByDripping(t *testing.T, p *secure) {
	c := dialFrames(t, p.Addr, true)
	const bodies = 50
	for range bodies {
		if err := c.open("POST", "/p", false, hpack.HeaderField{Name: "content-length", Value: "100000"}); err != nil {
			t.Fatal(err)
		}
	}
	stop, dripped := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(dripped)
		drop := time.NewTicker(100 * time.Millisecond)
		defer drop.Stop()
		for {
			select {
			case <-stop:
				return
			case <-drop.C:
			}
			for id := uint32(1); id < 2*bodies; id += 2 {
				_ = c.frames.WriteData(id, false, []byte("x"))
			}
		}
	}()
	rawtest.Until(t, "all are answered", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.seen[http2.FrameHeaders] >= bodies // 408
	})
	close(stop)
	<-dripped
}

func attackByOpenHeaders(t *testing.T, p *secure) {
	var all []*peer2
	for range 50 {
		c := dialFrames(t, p.Addr, true)
		_ = c.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}, EndStream: true})
		all = append(all, c)
	}
	for _, c := range all {
		<-c.ended // by -idle-timeout
	}
}

func attackBySilence(t *testing.T, p *secure) {
	var ended atomic.Int32
	for range 50 {
		raw, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(attacker)}}).Dial("tcp", p.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = raw.Close() })
		go func() { // ends when the server gives up on the handshake
			_, _ = io.Copy(io.Discard, raw)
			ended.Add(1)
		}()
	}
	rawtest.Until(t, "all are closed", func() bool { return ended.Load() == 50 })
}
