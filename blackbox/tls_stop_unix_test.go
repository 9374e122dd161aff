//go:build unix

package blackbox

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// frames speaks HTTP/2 by the frame.
type frames struct {
	*http2.Framer
	t    *testing.T
	conn net.Conn
}

func (s *secure) dialFrames(t *testing.T) *frames {
	t.Helper()
	c, err := tls.Dial("tcp", s.Addr, &tls.Config{RootCAs: s.ca.Pool(), ServerName: siteName, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(rawtest.Patience)); err != nil {
		t.Fatal(err)
	}
	f := &frames{http2.NewFramer(c, c), t, c}
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return f
}

// get asks for a page on a new stream.
func (f *frames) get(stream uint32, path string) error {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", siteName}, {":path", path}, {"accept", "text/html"}} {
		if err := e.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			f.t.Fatal(err)
		}
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true})
}

// TestStopSaysGoAway: on HTTP/2 the client is told to go elsewhere, what it
// began is finished, what comes later is left for it to send again, and the
// connection ends.
func TestStopSaysGoAway(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	s := startSecure(t, o.Addr())
	f := s.dialFrames(t)
	if err := f.get(1, "/hold"); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "the page is at the origin", func() bool { return len(o.Requests()) == 1 })
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var body strings.Builder
	var status string
	gone := false
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the connection ended with %v", err)
			}
			break
		}
		switch frame := frame.(type) {
		case *http2.GoAwayFrame:
			if frame.ErrCode != http2.ErrCodeNo {
				t.Errorf("GOAWAY says %v", frame.ErrCode)
			}
			if frame.LastStreamID > 1 || gone { // the first may only announce the one that names the stream
				continue
			}
			gone = true
			if err := f.get(3, "/late"); err != nil {
				t.Errorf("the connection is closed with a page under way: %v", err)
			}
			o.letGo()
		case *http2.MetaHeadersFrame:
			if frame.StreamID == 3 {
				t.Error("the late request is answered")
			}
			status = frame.PseudoValue("status")
		case *http2.DataFrame:
			body.Write(frame.Data())
		}
	}
	if !gone || status != "200" || !strings.Contains(body.String(), originMark) {
		t.Errorf("told to go: %v; the page: status %q, %.100q", gone, status, body.String())
	}
	if n := countLines(o, "GET /late HTTP/1.1"); n > 0 {
		t.Error("the late request reached the origin")
	}
	if status := s.Status(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestTLSUpgradeUnderLoad: processes replace each other under visitors of both
// protocols and on both sockets; nothing fails, and sessions are resumed by the
// successor.
func TestTLSUpgradeUnderLoad(t *testing.T) {
	site, plain := newBusySite(t, 15*time.Millisecond), parts.Address(t)
	s := startSecure(t, strings.TrimPrefix(site.URL, "http://"), "-cap", "8", "-access-log=false", "-queue-per-client", "0", "-tls-http-listen", plain)
	ctx, cancel := context.WithCancel(t.Context())
	var browsers sync.WaitGroup
	var mu sync.Mutex // guards failures
	var failures []error
	failed := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, err)
	}
	sessions := tls.NewLRUClientSessionCache(0)
	for i := range 16 {
		v := s.visitor(t, i%2 == 0).follow()
		v.client.Transport.(*http.Transport).TLSClientConfig.ClientSessionCache = sessions
		if i%4 > 1 { // by way of the other socket, every time
			v.base = "http://" + plain
		}
		browsers.Go(func() { browse(ctx, v, i%3 > 0, failed) }) // ends with ctx
	}
	for range 2 {
		before := site.served.Load()
		rawtest.Until(t, "pages are served", func() bool { return site.served.Load() > before+100 })
		takeOver(t, s.Process)
		rawtest.Until(t, "sessions are resumed", func() bool { return s.stats(t).TLS.Resumed > 0 })
	}
	cancel()
	browsers.Wait()
	if len(failures) > 0 {
		t.Errorf("%d requests failed, as the first: %v", len(failures), failures[0])
	}
	t.Logf("%d pages; the last process: %+v", site.served.Load(), s.stats(t).TLS)
}
