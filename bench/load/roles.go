package load

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Roles a process of the load command can have besides measuring.
const (
	roleOrigin   = "origin"   // serves one page, and nothing else
	roleHTTPUtil = "httputil" // the library's proxy, tuned
	roleStuck    = "stuck"    // an origin that takes requests and never answers
	roleStatic   = "static"   // net/http with an answer that never changes
	roleDressed  = "dressed"  // the same, with header lines that are given as upstream
)

// Play has this process take a role: it writes its address and a line end to
// out and serves until it is killed. The page, or other answer, has size bytes;
// upstream is the origin of the proxy.
func Play(role string, out io.Writer, size int, upstream string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = ln.Close() }()
	if _, err := fmt.Fprintln(out, ln.Addr()); err != nil {
		return fmt.Errorf("tell the address: %w", err)
	}
	switch role {
	case roleOrigin:
		return serveOrigin(ln, size)
	case roleHTTPUtil:
		u, err := url.Parse(upstream)
		if err != nil {
			return fmt.Errorf("upstream: %w", err)
		}
		server := &http.Server{Handler: tunedProxy(u), ReadHeaderTimeout: time.Minute}
		return server.Serve(ln)
	case roleStuck:
		return serveStuck(ln)
	case roleStatic:
		server := &http.Server{Handler: static(size), ReadHeaderTimeout: time.Minute}
		return server.Serve(ln)
	case roleDressed:
		server := &http.Server{Handler: dressed(size, upstream), ReadHeaderTimeout: time.Minute}
		return server.Serve(ln)
	}
	return fmt.Errorf("unknown role %q", role)
}

// serveOrigin spends as little as it can, so that the proxies have the machine.
func serveOrigin(ln net.Listener, size int) error {
	page := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"+
		"Date: Tue, 15 Nov 1994 08:12:31 GMT\r\nServer: origin\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
	for {
		c, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go servePages(c, page) // ends with its connection
	}
}

func servePages(c net.Conn, page []byte) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReader(c)
	for {
		for { // the header, up to its empty line
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := c.Write(page); err != nil {
			return
		}
	}
}

// serveStuck accepts and reads, so that nobody is refused.
func serveStuck(ln net.Listener) error {
	for {
		c, err := ln.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go func() { // ends with its connection
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}()
	}
}

// static answers everything with size bytes that are there already.
func static(size int) http.Handler {
	body := []byte(strings.Repeat("x", size))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(body) // the client may have left
	})
}

// dressed answers everything with size bytes and these header lines.
func dressed(size int, lines string) http.Handler {
	body, header := []byte(strings.Repeat("x", size)), http.Header{}
	for line := range strings.Lines(lines) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		header[name] = append(header[name], value)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		_, _ = w.Write(body) // the client may have left
	})
}

// headerLines are the lines of a header, but for the date, which each server
// writes itself.
func headerLines(h http.Header) string {
	var b strings.Builder
	for name, values := range h {
		for _, value := range values {
			if name != "Date" {
				fmt.Fprintf(&b, "%s: %s\n", name, value)
			}
		}
	}
	return b.String()
}

// tunedProxy is the library's proxy with a buffer pool and enough idle
// connections: as fast as it gets without leaving net/http.
func tunedProxy(origin *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 512,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
		},
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(origin)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		BufferPool: &buffers{sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}},
		ErrorLog:   log.New(io.Discard, "", 0),
	}
}

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
