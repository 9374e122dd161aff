package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// crowd is a number of visitors with a connection each.
type crowd struct{ clients []*client }

// client is one connection. It sends one request after the other and wants the
// same kind of answer to each.
type client struct {
	conn     net.Conn
	r        *bufio.Reader
	requests [][]byte
	turn     *atomic.Uint64 // of requests; those who share them take turns
	status   []byte         // of the answers, as "200"
	latency  []time.Duration

	// See pace:
	due  time.Time     // when the request under way was to leave
	sent chan struct{} // gets one for each request that left
}

// pageRequest is what a browser behind another proxy sends, without the empty line.
const pageRequest = "GET /shop/item/42?ref=mail HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n" +
	"Accept: text/html,application/xhtml+xml\r\nAccept-Language: en\r\nAccept-Encoding: gzip\r\nX-Forwarded-For: 203.0.113.9\r\n"

// dial connects n visitors to addr, who have no requests yet.
func dial(ctx context.Context, addr string, n int) (*crowd, error) {
	c := &crowd{}
	for range n {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			c.leave()
			return nil, fmt.Errorf("connect: %w", err)
		}
		c.clients = append(c.clients, &client{
			conn: conn, r: bufio.NewReaderSize(conn, 64<<10), turn: new(atomic.Uint64), status: []byte("200"),
		})
	}
	return c, nil
}

// meet connects n visitors to addr. Each asks for the page once and keeps what
// cookies it is given, as one who has been admitted.
func meet(ctx context.Context, addr string, n, size int) (*crowd, error) {
	c, err := dial(ctx, addr, n)
	if err != nil {
		return nil, err
	}
	for _, v := range c.clients {
		header, body, err := v.ask([]byte(pageRequest + "\r\n"))
		if err == nil && len(body) != size {
			err = fmt.Errorf("a page of %d bytes, not of %d", len(body), size)
		}
		if err != nil {
			c.leave()
			return nil, err
		}
		v.requests = [][]byte{[]byte(pageRequest + cookieLine("session=abcdef", header) + "\r\n")}
	}
	return c, nil
}

// cookieLine is the request field for own and the cookies that an answer sets.
func cookieLine(own string, answer http.Header) string {
	cookies := []string{own}
	for _, line := range answer["Set-Cookie"] {
		cookie, _, _ := strings.Cut(line, ";")
		cookies = append(cookies, cookie)
	}
	return "Cookie: " + strings.Join(cookies, "; ") + "\r\n"
}

func (c *crowd) leave() {
	for _, v := range c.clients {
		_ = v.conn.Close()
	}
}

// ask sends a request and looks at the answer closely.
func (v *client) ask(request []byte) (http.Header, []byte, error) {
	if _, err := v.conn.Write(request); err != nil {
		return nil, nil, fmt.Errorf("ask: %w", err)
	}
	resp, err := http.ReadResponse(v.r, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	if strconv.Itoa(resp.StatusCode) != string(v.status) {
		return nil, nil, fmt.Errorf("%w: %s, %.200s", errAnswer, resp.Status, body)
	}
	return resp.Header, body, nil
}

// send sends the next request.
func (v *client) send() error {
	request := v.requests[v.turn.Add(1)%uint64(len(v.requests))]
	if _, err := v.conn.Write(request); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	return nil
}

var (
	errAnswer = errors.New("not the answer that was wanted")
	lengthKey = []byte("content-length:")
)

// receive reads an answer as cheaply as it can. Its length must be stated.
func (v *client) receive() error {
	size := -1
	for first := true; ; first = false {
		line, err := v.r.ReadSlice('\n')
		switch {
		case err != nil:
			return fmt.Errorf("read the answer: %w", err)
		case first && (len(line) < 12 || !bytes.Equal(line[9:12], v.status)):
			return fmt.Errorf("%w: %.200q", errAnswer, line)
		case len(line) == 2 && size < 0:
			return fmt.Errorf("%w: it has no length", errAnswer)
		case len(line) == 2:
			if _, err := v.r.Discard(size); err != nil {
				return fmt.Errorf("read the body: %w", err)
			}
			return nil
		case len(line) > len(lengthKey) && bytes.EqualFold(line[:len(lengthKey)], lengthKey):
			if size, err = strconv.Atoi(string(bytes.TrimSpace(line[len(lengthKey):]))); err != nil {
				return fmt.Errorf("length of the answer: %w", err)
			}
		}
	}
}

// spend has all visitors ask again as soon as they are answered, for that long,
// and returns the latencies, sorted.
func (c *crowd) spend(slice time.Duration) ([]time.Duration, error) {
	end := time.Now().Add(slice)
	errs := make([]error, len(c.clients))
	var all sync.WaitGroup
	for i, v := range c.clients {
		v.latency = v.latency[:0]
		all.Go(func() {
			for now := time.Now(); now.Before(end) && errs[i] == nil; {
				if errs[i] = v.send(); errs[i] == nil {
					errs[i] = v.receive()
				}
				after := time.Now()
				v.latency = append(v.latency, after.Sub(now))
				now = after
			}
		})
	}
	all.Wait()
	return c.latencies(), errors.Join(errs...)
}

// latencies are those of all clients, sorted.
func (c *crowd) latencies() []time.Duration {
	var all []time.Duration
	for _, v := range c.clients {
		all = append(all, v.latency...)
	}
	slices.Sort(all)
	return all
}

// share divides n tasks among the clients, who do theirs one after the other.
func (c *crowd) share(n int, task func(v *client, i int) error) error {
	errs := make([]error, len(c.clients))
	var all sync.WaitGroup
	for k, v := range c.clients {
		all.Go(func() {
			for i := k; i < n && errs[k] == nil; i += len(c.clients) {
				errs[k] = task(v, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
