package upstream

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

// stubborn is an origin that goes on with a page whoever has left, until its
// test lets go of it.
type stubborn struct {
	asked atomic.Int32
	done  chan struct{}
	once  sync.Once
}

func (o *stubborn) letGo() { o.once.Do(func() { close(o.done) }) }

func (o *stubborn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	o.asked.Add(1)
	<-o.done
	_, _ = io.WriteString(w, "ok")
}

// newTLSOrigin runs an origin that speaks TLS, and HTTP/2 over it if over2 is set.
func newTLSOrigin(t *testing.T, over2 bool, h http.Handler) (string, *tls.Config) {
	t.Helper()
	origin := httptest.NewUnstartedServer(h)
	origin.EnableHTTP2 = over2
	origin.StartTLS()
	t.Cleanup(origin.Close)
	trust := origin.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.NextProtos = nil // ours chooses
	return origin.URL, trust
}

// TestSlotIsHeldOverOtherProtocols: what TestSlotIsHeldWhileTheOriginWorks finds
// for HTTP/1.1 holds where net/http's client asks the origin. The visit is over
// when the origin answers, however much time it has, and no earlier than after
// its time when it does not.
func TestSlotIsHeldOverOtherProtocols(t *testing.T) {
	for name, start := range map[string]func(*testing.T, http.Handler) (string, *tls.Config){
		"h2c":            func(t *testing.T, h http.Handler) (string, *tls.Config) { return newH2COrigin(t, h.ServeHTTP), nil },
		"HTTP/2 and TLS": func(t *testing.T, h http.Handler) (string, *tls.Config) { return newTLSOrigin(t, true, h) },
		"HTTP/1 and TLS": func(t *testing.T, h http.Handler) (string, *tls.Config) { return newTLSOrigin(t, false, h) },
	} {
		for ending, limit := range map[string]time.Duration{"it answers": time.Hour, "it never has an end": shortLimit} {
			for _, request := range []string{
				"GET /held/page HTTP/1.1\r\nHost: x\r\n\r\n",
				"POST /held/page HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
			} {
				t.Run(name+", "+ending+", "+request[:4], func(t *testing.T) {
					t.Parallel()
					o := &stubborn{done: make(chan struct{})}
					url, trust := start(t, o)
					t.Cleanup(o.letGo) // before the origin is closed, which waits for it
					s := newSite(t, url, func(c *Config) { c.HeaderTimeout, c.TLS = limit, trust })
					began := time.Now()
					c := rawtest.Dial(t, s.addr)
					c.Send(request)
					rawtest.Until(t, "the request at the origin", func() bool { return o.asked.Load() == 1 })
					c.Close()
					if limit == time.Hour {
						o.letGo()
					}
					// An answer that comes as the visitor leaves may still be sent.
					if got := s.outcomes(1)[0]; limit == shortLimit && got != (outcome{499, pipeline.ClientGone, false}) {
						t.Errorf("observed %+v", got)
					}
					if took := time.Since(began); limit == shortLimit && took < limit {
						t.Errorf("the slot is free after %v, and the origin works on", took)
					}
				})
			}
		}
	}
}
