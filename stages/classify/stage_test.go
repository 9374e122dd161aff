package classify

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// seen is what the stage made of a visit.
type seen struct {
	Class  pipeline.Class
	Family pipeline.Family
}

// sight stands for the stages behind: it notes what it is given.
type sight struct {
	last   seen
	visits int
}

func (*sight) Name() string              { return "sight" }
func (*sight) Classes() pipeline.Classes { return pipeline.AllClasses }
func (s *sight) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	s.last = seen{v.Class, v.Family}
	s.visits++
	v.W.WriteHeader(http.StatusTeapot)
	return pipeline.Answered, nil
}

func exampleTable(t testing.TB) *paths.Table[pipeline.Class] {
	t.Helper()
	type list = paths.List[pipeline.Class]
	table, err := paths.Build(
		list{Name: "-assets", Entries: "/css/*", Value: pipeline.Asset},
		list{Name: "-asset-public", Entries: "/pub/*", Value: pipeline.PublicAsset},
		list{Name: "-stream-paths", Entries: "/ws", Value: pipeline.Stream},
		list{Name: "-bypass", Entries: "/favicon.ico,/css/open.css", Value: pipeline.Bypass},
	)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func build(t testing.TB, c Config) (*sight, *pipeline.Pipeline) {
	t.Helper()
	trust, err := clientip.ParseTrust("192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	eye := &sight{}
	return eye, pipelinetest.New(t, pipeline.Config{Resolver: clientip.NewResolver(trust)}, s, eye)
}

// A request from httptest comes from 192.0.2.1, which build trusts.
const strange = "198.51.100.7:4711"

func TestClassByPath(t *testing.T) {
	eye, p := build(t, Config{Table: exampleTable(t)})
	for target, want := range map[string]pipeline.Class{
		"/":                             pipeline.Page,
		"/css/a.css":                    pipeline.Asset,
		"/css/a.css?v=1":                pipeline.Asset,
		"/%63ss/a.css":                  pipeline.Asset,
		"/css/open.css":                 pipeline.Bypass,
		"/css":                          pipeline.Page,
		"/css/../checkout":              pipeline.Page,
		"/css%2Fa.css":                  pipeline.Page,
		"/pub/a.png":                    pipeline.PublicAsset,
		"/ws":                           pipeline.Stream,
		"/favicon.ico":                  pipeline.Bypass,
		"/favicon.ico;x=1":              pipeline.Page,
		"/favicon.ico#/../checkout":     pipeline.Page,
		"/index.php?/favicon.ico":       pipeline.Page,
		"/queue/status":                 pipeline.Operations,
		"/queue/%73tatus":               pipeline.Operations,
		"/_room/stats":                  pipeline.Operations,
		"/_room/whatever":               pipeline.Operations,
		"/a/../_room/cap":               pipeline.Operations,
		"http://other.test/favicon.ico": pipeline.Bypass,
		"http://other.test":             pipeline.Page,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RequestURI = target
		eye.last = seen{}
		p.ServeHTTP(httptest.NewRecorder(), r)
		if eye.last.Class != want {
			t.Errorf("%s is %v, want %v", target, eye.last.Class, want)
		}
	}
}

func TestReservedForEveryMethod(t *testing.T) {
	eye, p := build(t, Config{})
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"} {
		eye.last = seen{}
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/_room/cap", nil))
		if eye.last.Class != pipeline.Operations {
			t.Errorf("%s /_room/cap is %v", method, eye.last.Class)
		}
	}
}

func TestHeadersNameNoPath(t *testing.T) {
	eye, p := build(t, Config{Table: exampleTable(t)})
	r := httptest.NewRequest("GET", "/index.php", nil)
	for _, name := range []string{"X-Forwarded-Uri", "X-Original-Url", "X-Rewrite-Url"} {
		r.Header.Set(name, "/favicon.ico")
	}
	p.ServeHTTP(httptest.NewRecorder(), r)
	if eye.last.Class != pipeline.Page {
		t.Errorf("a page with a path in its headers is %v", eye.last.Class)
	}
}

func TestFamily(t *testing.T) {
	const header = "X-Client-Proto"
	for _, c := range []struct {
		name   string
		proto  int
		from   string
		says   []string
		want   pipeline.Family
		unread bool // the stage is not told of the header
	}{
		{name: "own http1", proto: 1, want: pipeline.HTTP1},
		{name: "own http2", proto: 2, want: pipeline.HTTP2},
		{name: "nginx http2", proto: 1, says: []string{"HTTP/2.0"}, want: pipeline.HTTP2},
		{name: "nginx http3", proto: 1, says: []string{"HTTP/3.0"}, want: pipeline.HTTP2},
		{name: "nginx http1", proto: 2, says: []string{"HTTP/1.1"}, want: pipeline.HTTP1},
		{name: "alpn h2", proto: 1, says: []string{"h2"}, want: pipeline.HTTP2},
		{name: "alpn h3", proto: 1, says: []string{"H3-29"}, want: pipeline.HTTP2},
		{name: "alpn http1", proto: 2, says: []string{" http/1.1 "}, want: pipeline.HTTP1},
		{name: "nonsense", proto: 2, says: []string{"SPDY/3"}, want: pipeline.HTTP2},
		{name: "empty", proto: 1, says: []string{""}, want: pipeline.HTTP1},
		{name: "nearest proxy's line", proto: 1, says: []string{"HTTP/2.0", "HTTP/1.1"}, want: pipeline.HTTP1},
		{name: "stranger", proto: 1, from: strange, says: []string{"HTTP/2.0"}, want: pipeline.HTTP1},
		{name: "turned off", proto: 1, says: []string{"HTTP/2.0"}, want: pipeline.HTTP1, unread: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := Config{ProtoHeader: header}
			if c.unread {
				cfg = Config{}
			}
			eye, p := build(t, cfg)
			r := httptest.NewRequest("GET", "/", nil)
			r.ProtoMajor = c.proto
			if c.from != "" {
				r.RemoteAddr = c.from
			}
			if c.says != nil {
				r.Header[header] = c.says
			}
			p.ServeHTTP(httptest.NewRecorder(), r)
			if eye.last.Family != c.want {
				t.Errorf("family is %v, want %v", eye.last.Family, c.want)
			}
		})
	}
}

// What a client on a real connection is told.
func TestOnTheWire(t *testing.T) {
	eye, p := build(t, Config{})
	srv := httptest.NewUnstartedServer(p)
	srv.Config.DisableGeneralOptionsHandler = true
	srv.Start()
	defer srv.Close()
	for _, c := range []struct {
		name, request string
		status        int
		closes        bool
	}{
		{"page", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 418, false},
		{"connect", "CONNECT internal:22 HTTP/1.1\r\nHost: internal:22\r\n\r\n", 405, false},
		{"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, true},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400, true},
		{"no host, HTTP/1.0", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 400, true},
		{"no host, health check", "GET /_room/healthz HTTP/1.0\r\n\r\n", 418, true},
		{"star", "GET * HTTP/1.1\r\nHost: a.test\r\n\r\n", 400, true},
		{"options star", "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n", 204, false},
		{"absolute form", "GET http://b.test/p HTTP/1.1\r\nHost: a.test\r\n\r\n", 418, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, c.request); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != c.status || resp.Close != c.closes {
				t.Errorf("answered %d, closing %v; want %d, %v", resp.StatusCode, resp.Close, c.status, c.closes)
			}
			if wants := c.status == 405 || c.status == 204; wants != strings.Contains(resp.Header.Get("Allow"), "GET") {
				t.Errorf("Allow is %q", resp.Header.Get("Allow"))
			}
		})
	}
	if eye.visits != 3 {
		t.Errorf("%d requests let through, want 3", eye.visits)
	}
}

func TestApplyReplacesTheTable(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	path := paths.Canonical("/css/a.css")
	if got := s.config.Load().class(path); got != pipeline.Page {
		t.Errorf("without a table: %v", got)
	}
	if err := s.Apply(Config{Table: exampleTable(t)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(Config{ProtoHeader: "x-client-proto"}); err == nil {
		t.Error("a header name that no request can match is accepted")
	}
	if got := s.config.Load().class(path); got != pipeline.Asset {
		t.Errorf("with a table: %v", got)
	}
}
