package upstream

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// site is a server with a pipeline around a proxy: what visitors meet.
type site struct {
	t      testing.TB
	proxy  *Proxy
	server *httptest.Server
	addr   string

	mu   sync.Mutex // guards the field below
	seen []outcome
}

// outcome is what an observer is told of a visit.
type outcome struct {
	Status  int
	Reason  pipeline.Reason
	Latency bool // OriginLatency was set
}

func newSite(t testing.TB, origin string, change ...func(*Config)) *site {
	t.Helper()
	s := build(t, origin, change...)
	s.server.Start()
	s.addr = s.server.Listener.Addr().String()
	return s
}

// newTLSSite speaks HTTP/2 and HTTP/1.1 over TLS.
func newTLSSite(t testing.TB, origin string, change ...func(*Config)) *site {
	t.Helper()
	s := build(t, origin, change...)
	s.server.EnableHTTP2 = true
	s.server.StartTLS()
	s.addr = s.server.Listener.Addr().String()
	return s
}

func build(t testing.TB, origin string, change ...func(*Config)) *site {
	t.Helper()
	cfg := Config{
		Upstream: mustURL(t, origin), PreserveHost: true, MaxConns: 50,
		HeaderTimeout: rawtest.Patience, IdleTimeout: rawtest.Patience, BodyTimeout: rawtest.Patience,
		WriteTimeout: rawtest.Patience, StreamIdleTimeout: rawtest.Patience,
		Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&cfg)
	}
	proxy, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := clientip.ParseTrust("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, proxy: proxy}
	p := pipelinetest.New(t, pipeline.Config{
		Resolver: clientip.NewResolver(trust), Origin: proxy, Observers: []pipeline.Observer{s},
	}, testStage{})
	s.server = httptest.NewUnstartedServer(p)
	s.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.close)
	return s
}

// close also ends what a test has left open, so that it cannot hang.
func (s *site) close() {
	ctx, cancel := context.WithTimeout(context.Background(), rawtest.Patience)
	defer cancel()
	if err := s.proxy.CloseStreams(ctx); err != nil {
		s.t.Error(err)
	}
	s.server.CloseClientConnections()
	s.server.Close()
	s.proxy.Close()
}

func mustURL(t testing.TB, origin string) *url.URL {
	t.Helper()
	if !strings.Contains(origin, "://") {
		origin = "http://" + origin
	}
	u, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Observe makes the site an observer of its own pipeline.
func (s *site) Observe(v *pipeline.Visit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, outcome{v.Status(), v.Reason, v.OriginLatency > 0})
}

// outcomes waits until n visits are over and returns what became of all.
func (s *site) outcomes(n int) []outcome {
	s.t.Helper()
	get := func() []outcome { s.mu.Lock(); defer s.mu.Unlock(); return append([]outcome(nil), s.seen...) }
	rawtest.Until(s.t, "visits to end", func() bool { return len(get()) >= n })
	return get()
}

// ended is how many visits are over.
func (s *site) ended() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

// ask sends raw bytes on a connection of their own and reads one response.
func (s *site) ask(request string) rawtest.Response {
	s.t.Helper()
	c := rawtest.Dial(s.t, s.addr)
	defer c.Close()
	c.Send(request)
	method, _, _ := strings.Cut(request, " ")
	return c.ReadResponse(method)
}

// client is an HTTP client that follows nothing and decodes nothing.
func (s *site) client() *http.Client {
	c := *s.server.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Transport.(*http.Transport).DisableCompression = true
	c.Timeout = rawtest.Patience
	return &c
}

// get asks with an HTTP client and reads the whole answer.
func (s *site) get(path string) (*http.Response, string, error) {
	s.t.Helper()
	resp, err := s.client().Get(s.server.URL + path)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// testStage calls what is below /stream/ a stream, holds a slot for what is below
// /held/, and adds a header to every
// response of the origin.
type testStage struct{}

func (testStage) Name() string              { return "test" }
func (testStage) Classes() pipeline.Classes { return pipeline.AllClasses }

func (s testStage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Page
	if strings.HasPrefix(v.R.URL.Path, "/stream/") {
		v.Class = pipeline.Stream
	}
	if strings.HasPrefix(v.R.URL.Path, "/held/") {
		v.Hold(s, 0)
	}
	v.OnResponse(s)
	return pipeline.Next, nil
}

func (testStage) Release(*pipeline.Visit, uint64) {}

func (testStage) EditResponse(_ *pipeline.Visit, _ int, h http.Header) {
	h["X-Edited"] = append(h["X-Edited"], "once")
}

// newMemorySite is a site without sockets, between a visitor and an origin of
// that script, for the clock of a bubble.
func newMemorySite(t *testing.T, script rawtest.Script, change ...func(*Config)) (*site, *rawtest.Client) {
	t.Helper()
	inside, outside := rawtest.NewMemory(), rawtest.NewMemory()
	rawtest.Serve(t, inside, script)
	s := build(t, "http://origin.example", change...)
	s.proxy.transport.(*http.Transport).DialContext = inside.Dial
	_ = s.server.Listener.Close() // the socket httptest has opened
	s.server.Listener = outside
	s.server.Start()
	conn, err := outside.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s, rawtest.NewClient(t, conn)
}
