package listener

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// writes counts what is written to the connections of a listener, and how often.
type writes struct {
	net.Listener
	n atomic.Int32
}

func (l *writes) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countingWriter{c, l}, nil
}

type countingWriter struct {
	net.Conn
	of *writes
}

func (c *countingWriter) Write(p []byte) (int, error) {
	c.of.n.Add(1)
	return c.Conn.Write(p)
}

// An answer that net/http's buffer does not hold leaves in one piece, with
// nothing of it lost or moved; over TLS everything is as ever.
func TestGather(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 1<<10)
	for name, tt := range map[string]struct {
		tls    bool
		writes int32
		gather bool
	}{
		"gathered": {writes: 1, gather: true},
		"at once":  {writes: 2},
		"over TLS": {tls: true, gather: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := New(Config{})
			var sent error
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Length"] = []string{"10240"}
				c := Plain(r)
				if c == nil || !tt.gather {
					_, _ = w.Write(body)
					return
				}
				if !c.Gather() || c.Gather() {
					t.Error("not gathered, or twice")
				}
				_, _ = w.Write(body)
				sent = c.Send()
			}))
			count := &writes{Listener: srv.Listener}
			srv.Listener = g.Wrap(count)
			srv.Config.ConnState, srv.Config.ConnContext = g.State, g.Context
			start := srv.Start
			if tt.tls {
				srv.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
				start = srv.StartTLS
			}
			start()
			t.Cleanup(srv.Close)
			for range 3 {
				count.n.Store(0)
				resp, err := srv.Client().Get(srv.URL)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || !bytes.Equal(got, body) {
					t.Fatalf("%d bytes, %v", len(got), err)
				}
				if n := count.n.Load(); tt.writes > 0 && n != tt.writes {
					t.Errorf("%d writes, want %d", n, tt.writes)
				}
			}
			srv.Close()
			if sent != nil {
				t.Error(sent)
			}
		})
	}
}
