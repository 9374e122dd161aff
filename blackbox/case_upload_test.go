package blackbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestUploadsOfTheBanned: whoever is banned is told so, with or without having
// sent the body.
func TestUploadsOfTheBanned(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env")
	get(t, p, "203.0.113.9", "/.env")
	head := "POST /upload HTTP/1.1\r\nHost: site.test\r\n" + asClient("203.0.113.9") + "\r\nContent-Length: "
	c := rawtest.Dial(t, p.Addr)
	c.Send(head + "1000\r\nExpect: 100-continue\r\n\r\n")
	if r := c.ReadResponse("POST"); r.Status() != "429" {
		t.Errorf("before the body: status %s, want 429", r.Status())
	}
	for _, size := range []int{2 << 20, 20 << 20} {
		c := rawtest.Dial(t, p.Addr)
		sent := make(chan error, 1)
		go func() { sent <- c.TrySend(head + itoa(size) + "\r\n\r\n" + strings.Repeat("x", size)) }()
		if r := c.ReadResponse("POST"); r.Status() != "429" {
			t.Errorf("%d bytes: status %s, want 429", size, r.Status())
		}
		c.Close()
		<-sent
	}
	if n := len(o.Requests()); n != 0 {
		t.Errorf("reached the origin: %q", o.lines())
	}
}

// TestOriginRefusesAnUpload: its own words reach the client that is still
// sending.
func TestOriginRefusesAnUpload(t *testing.T) {
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\ntoo much")
		x.CloseWrite()
		x.AwaitEnd()
		x.Close()
	})
	p := start(t, o.Addr(), "-cap", "1", quick)
	for _, size := range []int{2 << 20, 20 << 20} {
		c := rawtest.Dial(t, p.Addr)
		sent := make(chan error, 1)
		go func() {
			sent <- c.TrySend("POST /upload HTTP/1.1\r\nHost: site.test\r\nContent-Length: " + itoa(size) + "\r\n\r\n" + strings.Repeat("x", size))
		}()
		if r := c.ReadResponse("POST"); r.Status() != "413" || string(r.Body) != "too much" {
			t.Errorf("%d bytes: status %s, body %q; want the origin's 413", size, r.Status(), r.Body)
		}
		c.Close()
		<-sent
		rawtest.Until(t, "the slot is free", func() bool { return stats(t, p).Occupancy == 0 })
	}
}

// TestOriginThatClosesIdleConnections: it may do so at any moment, and no form
// is sent twice because of that.
func TestOriginThatClosesIdleConnections(t *testing.T) {
	var mu sync.Mutex // guards answered
	answered := map[int]int{}
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		mu.Lock()
		answered[x.Request.Conn]++
		n := answered[x.Request.Conn]
		mu.Unlock()
		if n > 1 { // reused: the origin has just given up on this connection
			x.Close()
			return
		}
		x.Write(okPage(x.Request))
	})
	p := start(t, o.Addr(), "-cap", "5")
	const n = 100
	for i := range n {
		if r := raw(t, p, trusted, fmt.Sprintf("GET /get/%d HTTP/1.1", i), "Host: site.test"); r.Status() != "200" {
			t.Errorf("GET %d: status %s", i, r.Status())
		}
		r := raw(t, p, trusted, fmt.Sprintf("POST /post/%d HTTP/1.1", i), "Host: site.test", "Content-Length: 0")
		if s := r.Status(); s != "200" && s != "502" {
			t.Errorf("POST %d: status %s", i, s)
		}
	}
	seen := map[string]int{}
	for _, r := range o.Requests() {
		if strings.HasPrefix(r.Line, "POST ") {
			if seen[r.Line]++; seen[r.Line] > 1 {
				t.Errorf("the origin got %q twice", r.Line)
			}
		}
	}
	if len(seen) != n {
		t.Errorf("the origin saw %d forms, want %d", len(seen), n)
	}
}

// TestConnectionsToTheOriginAreReused: a busy proxy that dials for every
// request runs out of ports.
func TestConnectionsToTheOriginAreReused(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "50")
	var crowd sync.WaitGroup
	for range 50 {
		c := rawtest.Dial(t, p.Addr)
		crowd.Go(func() {
			for range 40 {
				c.Send("GET / HTTP/1.1\r\nHost: site.test\r\n\r\n")
				if s := c.ReadResponse("GET").Status(); s != "200" {
					t.Errorf("status %s", s)
				}
			}
		})
	}
	crowd.Wait()
	if n := o.Accepted(); n > 100 {
		t.Errorf("%d connections for 2000 requests with at most 50 at once", n)
	}
}

// TestDrippersAreCutOff: neither an endless header nor an endless body keeps
// anything from others for long.
func TestDrippersAreCutOff(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-read-header-timeout", "1s", "-body-timeout", "1s")
	var slow []*rawtest.Client
	for range 100 {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET / HTTP/1.1\r\nHost: site.test\r\nX-Slow")
		slow = append(slow, c)
	}
	dripper := rawtest.Dial(t, p.Addr)
	dripper.Send("POST /p HTTP/1.1\r\nHost: site.test\r\nContent-Length: 100\r\n\r\nx")
	for _, c := range slow {
		c.Ended()
	}
	if r := dripper.ReadResponse("POST"); r.Status() != "408" {
		t.Errorf("body dripper: status %s, want 408", r.Status())
	}
	rawtest.Until(t, "the slot is free", func() bool { return stats(t, p).Occupancy == 0 })
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("the next page: status %d", a.status)
	}
}

// TestLeavingIsNoFailure: clients that go are no trouble of the origin's.
func TestLeavingIsNoFailure(t *testing.T) {
	o := newListeningOrigin(t) // a visit is over when the origin is done with it
	p := start(t, o.Addr(), "-cap", "20")
	var leavers []*rawtest.Client
	for range 20 {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET /hold HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n" + asClient("203.0.113.9") + "\r\n\r\n")
		leavers = append(leavers, c)
	}
	rawtest.Until(t, "all are at the origin", func() bool { return len(o.Requests()) == 20 })
	for i, c := range leavers {
		if i%2 == 0 {
			c.Reset()
		} else {
			c.Close()
		}
	}
	rawtest.Until(t, "all are logged", func() bool { return strings.Count(p.Stdout(), "target=/hold") == 20 })
	if log := p.Stdout(); strings.Contains(log, "status=5") || strings.Contains(log, "status=404") || strings.Count(log, "status=499") != 20 {
		t.Errorf("logged as:\n%s\nwant 499", log)
	}
	if blocked(t, p, "203.0.113.9") {
		t.Error("banned for leaving")
	}
	if strings.Contains(p.Stderr(), "level=ERROR") {
		t.Errorf("leaving is logged as an error:\n%s", p.Stderr())
	}
}
