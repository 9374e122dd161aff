package upstream

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/commas"
)

// Config says where the origin is and how long it is waited for. A duration
// of zero means no limit.
type Config struct {
	// Upstream is the origin: http, https or h2c, a host, and perhaps a path
	// that is put in front of every request's target. To an h2c origin HTTP/2
	// is spoken without TLS, and HTTP/1.1 for WebSockets only.
	Upstream *url.URL
	// PreserveHost has the origin see the visitor's Host instead of its own.
	PreserveHost bool

	HeaderTimeout     time.Duration // for the origin's response header, once it has the request
	IdleTimeout       time.Duration // for each further piece of the origin's body
	BodyTimeout       time.Duration // for each KiB of the visitor's body
	WriteTimeout      time.Duration // for the visitor to take each piece of the answer
	StreamIdleTimeout time.Duration // in place of IdleTimeout on streams; WebSockets: both directions silent

	// MaxBody is the most bytes a request body may have; 0 means no limit.
	MaxBody int64
	// MaxConns is how many requests are expected at the origin at once. As
	// many connections are kept for reuse; more can be open.
	MaxConns int
	// ClientProtoHeader names a header that only trusted peers may pass on;
	// empty for none.
	ClientProtoHeader string
	// OwnFields names the response fields with which the origin speaks to
	// Concert, separated by commas. Response editors see them in the final
	// header; no visitor sees them anywhere.
	OwnFields string
	// TLS is used towards an https origin; nil for the system's defaults.
	TLS *tls.Config
	// Log is told of every failure of the origin.
	Log *slog.Logger
}

// Limits of connections to the origin that need no setting.
const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 10 * time.Second
	idleConnTime     = 90 * time.Second
	continueWait     = time.Second // RFC 9110, 10.1.1: do not wait for a 100 for ever
	minIdleConns     = 64
	headerBytes      = 1 << 20 // of a response
	pingAfter        = 15 * time.Second
)

// New builds a proxy. The error joins all problems of cfg.
func New(cfg Config) (*Proxy, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.ClientProtoHeader = http.CanonicalHeaderKey(cfg.ClientProtoHeader)
	p := &Proxy{
		cfg:    cfg,
		scheme: cfg.Upstream.Scheme,
		host:   cfg.Upstream.Host,
		prefix: strings.TrimRight(cfg.Upstream.EscapedPath(), "/"),
	}
	p.chooseClients()
	var err error
	if p.hostField, err = hostField(cfg.Upstream.Host); err != nil {
		return nil, err
	}
	for name := range commas.Entries(cfg.OwnFields) {
		p.own = append(p.own, http.CanonicalHeaderKey(name))
	}
	p.buffers.New = func() any { return new(buffer) }
	p.exchanges.New = func() any { return new(exchange) }
	return p, nil
}

// chooseClients makes the ways to the origin.
func (p *Proxy) chooseClients() {
	t := newTransport(&p.cfg)
	p.plain, p.transport = newClient(&p.cfg, t), t
	closers := []func(){t.CloseIdleConnections}
	if p.scheme == h2c {
		p.scheme = "http" // as URLs and net/http call it
		over2 := newTransport(&p.cfg)
		over2.Protocols = new(http.Protocols)
		over2.Protocols.SetUnencryptedHTTP2(true)
		p.http2 = over2
		closers = append(closers, over2.CloseIdleConnections)
	}
	if p.plain != nil {
		closers = append(closers, p.plain.closeIdle)
	}
	p.closeIdle = func() {
		for _, f := range closers {
			f()
		}
	}
}

// h2c is the scheme of origins that speak HTTP/2 without TLS.
const h2c = "h2c"

func (cfg *Config) check() error {
	var problems []error
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("upstream: "+format, args...))
	}
	switch u := cfg.Upstream; {
	case u == nil:
		bad("no origin is given")
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != h2c:
		bad("origin %q: the scheme must be http, https or h2c", u.Redacted())
	case u.Hostname() == "":
		bad("origin %q: a host is needed", u.Redacted())
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		bad("origin %q: only scheme, host and path are accepted", u.Redacted())
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"header timeout", cfg.HeaderTimeout}, {"idle timeout", cfg.IdleTimeout}, {"body timeout", cfg.BodyTimeout},
		{"write timeout", cfg.WriteTimeout}, {"stream idle timeout", cfg.StreamIdleTimeout},
	} {
		if d.value < 0 {
			bad("%s %v: must not be negative", d.name, d.value)
		}
	}
	if cfg.MaxBody < 0 {
		bad("largest body %d: must not be negative", cfg.MaxBody)
	}
	return errors.Join(problems...)
}

// newTransport is net/http's client, tuned for one origin. The environment's
// proxy settings are ignored: the origin is where the operator said.
func newTransport(cfg *Config) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        cfg.TLS,
		TLSHandshakeTimeout:    handshakeTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter},
		DisableCompression:     true, // else a gzip nobody asked for is asked for and undone
		MaxIdleConnsPerHost:    max(cfg.MaxConns, minIdleConns),
		IdleConnTimeout:        idleConnTime,
		ExpectContinueTimeout:  continueWait,
		MaxResponseHeaderBytes: headerBytes,
	}
}
