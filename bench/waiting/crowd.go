package waiting

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// visitor is one who waits. Between its requests it is no more than this.
type visitor struct {
	number int
	cookie string
	due    time.Time // of what it asks next
	called bool      // it was told to come, and asks for the page
}

// crowd is everybody who waits, by when they ask next. It is a heap.
type crowd []*visitor

func (c crowd) Len() int           { return len(c) }
func (c crowd) Less(i, j int) bool { return c[i].due.Before(c[j].due) }
func (c crowd) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *crowd) Push(v any)        { *c = append(*c, v.(*visitor)) }
func (c *crowd) Pop() any {
	last := len(*c) - 1
	v := (*c)[last]
	*c = (*c)[:last]
	return v
}

// errAnswer is an answer that those who wait do not get.
var errAnswer = errors.New("not an answer for those who wait")

// join has the visitors come, as fast as the workers carry them.
func join(ctx context.Context, addr string, visitors, workers int) (crowd, error) {
	all := make(crowd, visitors)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < visitors && errs[w] == nil; i += workers {
				v := &visitor{number: i}
				v.called = true
				errs[w] = v.ask(ctx, addr)
				all[i] = v
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	heap.Init(&all)
	return all, nil
}

// wait has the crowd poll at the pace it is told until the end, and returns how
// long each answer took, connecting included. A poll that is due waits for a
// worker, and that is not counted: it is the bench that is slow.
func (c *crowd) wait(ctx context.Context, addr string, end time.Time, workers int) ([]time.Duration, error) {
	var (
		mu    sync.Mutex // guards the crowd and the fields below
		took  []time.Duration
		first error
		wg    sync.WaitGroup
	)
	next := func() *visitor {
		mu.Lock()
		defer mu.Unlock()
		if first != nil || (*c)[0].due.After(end) {
			return nil
		}
		return heap.Pop(c).(*visitor)
	}
	answered := func(v *visitor, d time.Duration, err error) {
		mu.Lock()
		defer mu.Unlock()
		took = append(took, d)
		heap.Push(c, v)
		if first == nil {
			first = err
		}
	}
	for range min(workers, len(*c)-1) { // one at least is always in the heap
		wg.Go(func() {
			for v := next(); v != nil; v = next() {
				if !ticks.Pause(ctx, time.Until(v.due)) {
					answered(v, 0, context.Cause(ctx))
					return
				}
				began := time.Now()
				err := v.ask(ctx, addr)
				answered(v, time.Since(began), err)
			}
		})
	}
	wg.Wait()
	return took, first
}

// ask asks once on a connection of its own, and notes when to ask again.
func (v *visitor) ask(ctx context.Context, addr string) error {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: address(v.number)}}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close() }()
	path := "/queue/status"
	if v.called {
		path = "/"
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n"+
		"Accept: text/html,*/*\r\n%s\r\n", path, v.cookie); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return v.hear(resp, body)
}

// hear does as an answer says. Whoever is told to come asks for the page, finds
// that the slot is still taken, and waits on.
func (v *visitor) hear(resp *http.Response, body []byte) error {
	for _, line := range resp.Header["Set-Cookie"] {
		if cookie, _, _ := strings.Cut(line, ";"); strings.HasPrefix(cookie, "room_ticket=") {
			v.cookie = "Cookie: " + cookie + "\r\n"
		}
	}
	mark := `"poll_after_ms":`
	if v.called {
		mark = `data-poll="` // what the page's script goes by
	}
	if v.called = string(body) == `{"ready":true}`; v.called {
		v.due = time.Now()
		return nil
	}
	pause, err := milliseconds(resp, body, mark)
	v.due = time.Now().Add(pause)
	return err
}

// milliseconds reads the number behind a mark.
func milliseconds(resp *http.Response, body []byte, mark string) (time.Duration, error) {
	_, after, found := bytes.Cut(body, []byte(mark))
	digits := 0
	for digits < len(after) && after[digits] >= '0' && after[digits] <= '9' {
		digits++
	}
	ms, err := strconv.Atoi(string(after[:digits]))
	if resp.StatusCode != http.StatusOK || !found || err != nil {
		return 0, fmt.Errorf("%w: %s, %.100q", errAnswer, resp.Status, body)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// address is the i-th loopback address from 127.1.0.0 on.
func address(i int) net.IP { return net.IPv4(127, byte(1+i>>16), byte(i>>8), byte(i)) }
