package blackbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// originMark is a text that only the origin's pages hold.
const originMark = "this is the origin"

// origin is a scripted site. A request whose path begins with /hold stays
// there until the test lets it go; any other is answered at once.
type origin struct {
	*rawtest.Origin
	t       *testing.T
	tokens  chan struct{}
	openAll func() // lets go whoever is held, now and later
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	return newOriginWith(t, okPage)
}

// newOriginWith is newOrigin with other pages.
func newOriginWith(t *testing.T, page func(*rawtest.Request) string) *origin {
	t.Helper()
	o := &origin{t: t, tokens: make(chan struct{})}
	all := make(chan struct{})
	o.openAll = sync.OnceFunc(func() { close(all) })
	o.Origin = rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		if _, err := x.ReadBody(); err != nil {
			x.Close()
			return
		}
		if strings.Contains(x.Request.Line, " /hold") {
			select {
			case <-o.tokens:
			case <-all:
			}
		}
		x.Write(page(x.Request))
	})
	t.Cleanup(o.openAll) // runs before the origin itself is closed
	return o
}

// okPage answers with the request line, so that a client can see what arrived.
func okPage(r *rawtest.Request) string {
	body := fmt.Sprintf("<!doctype html><title>origin</title>%s: %s", originMark, r.Line)
	if strings.HasPrefix(r.Line, "HEAD ") {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", len(body))
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// letGo ends one held request.
func (o *origin) letGo() {
	o.t.Helper()
	select {
	case o.tokens <- struct{}{}:
	case <-time.After(rawtest.Patience):
		o.t.Fatal("the origin holds no request")
	}
}

// lines returns the request lines the origin has seen so far.
func (o *origin) lines() []string {
	var lines []string
	for _, r := range o.Requests() {
		lines = append(lines, r.Line)
	}
	return lines
}

// fill takes n page slots with requests that the origin holds, and returns when
// all of them have arrived there.
func (o *origin) fill(t *testing.T, p *launch.Process, n int) {
	t.Helper()
	idle(t, p)
	before := len(o.Requests())
	for range n {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET /hold HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
	}
	rawtest.Until(t, "the slots are taken", func() bool { return len(o.Requests()) == before+n })
}

// sawNoCookie fails the test when a cookie whose name begins so has reached the
// origin. Invariant 7.
func (o *origin) sawNoCookie(t *testing.T, name string) {
	t.Helper()
	for _, r := range o.Requests() {
		if strings.Contains(r.Value("Cookie"), name) {
			t.Errorf("invariant 7: the origin was shown %q", r.Value("Cookie"))
		}
	}
}
