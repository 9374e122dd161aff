package soak

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// act is something that happens beside the crowd, again and again. An error says
// that the answer was wrong.
type act struct {
	name  string
	every time.Duration
	do    func(ctx context.Context, n int) error
}

func (r *run) acts() []act {
	return []act{
		{"change the cap", 300 * time.Millisecond, r.changeCap},
		{"upload a form", 50 * time.Millisecond, r.upload},
		{"forge a pass", 20 * time.Millisecond, r.forge},
		{"send nonsense", 50 * time.Millisecond, r.nonsense},
		{"hang up", 20 * time.Millisecond, r.hangUp},
		{"fetch an asset", 20 * time.Millisecond, r.fetchAsset},
		{"look around", 500 * time.Millisecond, r.lookAround},
	}
}

// ask sends a request as an operator and returns its answer.
func (r *run) ask(ctx context.Context, method, path string, body []byte, edit func(http.Header)) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.concert.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	edit(req.Header)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func operator(h http.Header) { h.Set("Authorization", "Bearer "+adminToken) }

// from has a request come from a client.
func from(client string) func(http.Header) {
	return func(h http.Header) { h.Set("X-Forwarded-For", client) }
}

// oneOf reports whether an answer is one that may come.
func oneOf(status int, err error, may ...int) error {
	if err != nil {
		return err
	}
	for _, m := range may {
		if status == m {
			return nil
		}
	}
	return fmt.Errorf("status %d, want one of %v", status, may)
}

func (r *run) changeCap(ctx context.Context, n int) error {
	lowest := max(1, r.Cap/2)
	body := fmt.Appendf(nil, `{"cap": %d}`, lowest+n%(r.Cap-lowest+1))
	status, _, err := r.ask(ctx, http.MethodPost, "/_room/cap", body, operator)
	return oneOf(status, err, http.StatusOK)
}

// upload sends a form, which is served or told that it was not.
func (r *run) upload(ctx context.Context, n int) error {
	status, _, err := r.ask(ctx, http.MethodPost, "/form", bytes.Repeat([]byte("x"), n%100_000), func(h http.Header) {
		from("192.0.2.1")(h)
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		h.Set("Accept", "text/html")
	})
	return oneOf(status, err, http.StatusOK, http.StatusServiceUnavailable)
}

// forge brings a pass that nobody has issued, to an asset.
func (r *run) forge(ctx context.Context, n int) error {
	status, _, err := r.ask(ctx, http.MethodGet, "/style/none.css", nil, func(h http.Header) {
		from("192.0.2.2")(h)
		h.Set("Cookie", fmt.Sprintf("concert_admit=%032x.%032x; room_ticket=%032x", n, n, n))
	})
	return oneOf(status, err, http.StatusForbidden)
}

// nonsense is not HTTP, and answered with a 4xx or the end.
func (r *run) nonsense(ctx context.Context, n int) error {
	texts := []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01", "GET\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "POST / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: " + quitter + "\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", // given up when it breaks strings.Repeat("x", 10_000),
	}
	conn, err := r.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, texts[n%len(texts)]) // may be cut short, as it deserves
	_ = conn.(*net.TCPConn).CloseWrite()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(line, "HTTP/1.1 4") && !strings.HasPrefix(line, "HTTP/1.1 505") {
		return fmt.Errorf("answer %q", line)
	}
	return nil
}

// quitter is the address of those whose pages are given up halfway.
const quitter = "192.0.2.3"

// hangUp asks for a page and leaves at once or a moment later.
func (r *run) hangUp(ctx context.Context, n int) error {
	conn, err := r.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	request := "GET / HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nX-Forwarded-For: " + quitter + "\r\n\r\n"
	if _, err := io.WriteString(conn, request[:len(request)-n%3]); err != nil { // two of three are not even whole
		return err
	}
	ticks.Pause(ctx, time.Duration(n%10)*10*time.Millisecond)
	return nil
}

func (r *run) dial(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", r.concert.Addr)
}

// fetchAsset asks for what only the admitted may have.
func (r *run) fetchAsset(ctx context.Context, _ int) error {
	status, _, err := r.ask(ctx, http.MethodGet, "/style/site.css", nil, from("192.0.2.4"))
	return oneOf(status, err, http.StatusForbidden)
}

// lookAround asks as load balancers and dashboards do.
func (r *run) lookAround(ctx context.Context, _ int) error {
	for _, path := range []string{"/_room/healthz", "/_room/readyz", "/_room/stats", "/_room/metrics"} {
		status, _, err := r.ask(ctx, http.MethodGet, path, nil, func(http.Header) {})
		if err := oneOf(status, err, http.StatusOK); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}
