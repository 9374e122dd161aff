package blackbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// connections are what the tests read of /_room/stats about connections.
type connections struct {
	Open    int            `json:"connections"`
	Max     int            `json:"connections_max"`
	Shed    int            `json:"connections_shed_total"`
	Resets  int            `json:"connections_reset_total"`
	Refused map[string]int `json:"connections_refused"`
}

func connectionsOf(t *testing.T, p *launch.Process) (c connections) {
	t.Helper()
	status, body := call(t, http.MethodGet, p.URL+"/_room/stats", "", "")
	if err := json.Unmarshal([]byte(body), &c); err != nil || status != http.StatusOK {
		t.Fatalf("stats: status %d, body %q: %v", status, body, err)
	}
	return c
}

// dialNarrow connects from an address, with a small window for what comes back.
func dialNarrow(t *testing.T, source, address string, window int) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: rawtest.Patience}
	c, err := d.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(window)
	_ = c.SetDeadline(time.Now().Add(2 * rawtest.Patience))
	return c
}

// TestSlowHeadersMakeRoom: more connections than there may be, all with half a
// request header, and nobody else notices.
func TestSlowHeadersMakeRoom(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-max-conns", "64", "-read-header-timeout", "1m", "-abuse-allow", "127.0.0.7")
	attack := func(n int) {
		for range n {
			c := rawtest.DialFrom(t, "127.0.0.2", p.Addr)
			_ = c.TrySend("GET / HTTP/1.1\r\nHost: site.test\r\nX-Slow") // it may be closed already
		}
	}
	attack(100)
	kept := rawtest.DialFrom(t, "127.0.0.4", p.Addr) // an honest one that comes back later
	for range 20 {
		attack(10)
		if r := raw(t, p, "127.0.0.3", "GET / HTTP/1.1", "Host: site.test"); r.Status() != "200" {
			t.Fatalf("an honest visitor: %s", r.Line)
		}
		kept.Send("GET / HTTP/1.1\r\nHost: site.test\r\n\r\n")
		if r := kept.ReadResponse("GET"); r.Status() != "200" {
			t.Fatalf("an honest visitor's open connection: %s", r.Line)
		}
	}
	c := connectionsOf(t, p)
	if c.Open > c.Max+1 || c.Max != 64 || c.Shed < 200 || c.Refused["max-conns"] != 0 {
		t.Errorf("connections %+v", c)
	}
}

// TestSlowBodiesMakeRoom: the same with bodies that do not come. Those
// connections are busy, but one client has them all.
func TestSlowBodiesMakeRoom(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-max-conns", "64", "-body-timeout", "1m")
	for range 20 {
		for range 10 {
			c := rawtest.DialFrom(t, "127.0.0.2", p.Addr)
			_ = c.TrySend("POST /p HTTP/1.1\r\nHost: site.test\r\nContent-Length: 100000\r\n\r\nx") // it may be closed already
		}
		if r := raw(t, p, "127.0.0.3", "GET / HTTP/1.1", "Host: site.test"); r.Status() != "200" {
			t.Fatalf("an honest visitor: %s", r.Line)
		}
	}
	rawtest.Until(t, "an operator sees it", func() bool { return connectionsOf(t, p).Shed > 100 })
}

// TestConnectionsOfOneClient: one has so many and no more, others as they like.
func TestConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-max-conns-per-client", "5")
	var open []*rawtest.Client
	served := 0
	for range 10 {
		c := rawtest.DialFrom(t, "127.0.0.2", p.Addr)
		open = append(open, c)
		if c.TrySend("GET / HTTP/1.1\r\nHost: site.test\r\n\r\n") != nil {
			continue
		}
		if text := make([]byte, 12); readable(c, text) && string(text) == "HTTP/1.1 200" {
			served++
		}
	}
	if served != 5 {
		t.Errorf("%d connections served, want 5", served)
	}
	if r := raw(t, p, "127.0.0.3", "GET / HTTP/1.1", "Host: site.test"); r.Status() != "200" {
		t.Errorf("another client: %s", r.Line)
	}
	for _, c := range open {
		c.Close()
	}
	rawtest.Until(t, "they are forgotten", func() bool { return connectionsOf(t, p).Open <= 1 })
	if r := raw(t, p, "127.0.0.2", "GET / HTTP/1.1", "Host: site.test"); r.Status() != "200" {
		t.Errorf("the client, after it has closed them: %s", r.Line)
	}
	if c := connectionsOf(t, p); c.Refused["max-conns-per-client"] != 5 {
		t.Errorf("refused %v", c.Refused)
	}
}

// readable fills b from the connection, if it can.
func readable(c *rawtest.Client, b []byte) bool {
	_, err := io.ReadFull(c, b)
	return err == nil
}

// TestWhoDoesNotRead: neither a page of the site's nor one of Concert's own
// keeps a connection for a client that does not take it; one that is slow gets
// it whole.
func TestWhoDoesNotRead(t *testing.T) {
	t.Parallel()
	const large = 6 << 20 // more than the kernel takes off our hands
	large8 := strings.Repeat("x", 1<<20)
	o := newOriginWith(t, func(r *rawtest.Request) string {
		return "HTTP/1.1 200 OK\r\nContent-Length: 6291456\r\n\r\n" + strings.Repeat(large8, large>>20)
	})
	html := filepath.Join(t.TempDir(), "page.html")
	page := "<!doctype html><title>wait</title><!-- {{.Position}} /queue/status " + strings.Repeat("x", 3<<20) + " -->"
	if err := os.WriteFile(html, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	p := start(t, o.Addr(), "-write-timeout", "3s", "-room", "paused", "-bypass", "/large", "-html", html)
	for _, request := range []string{
		"GET /large HTTP/1.1\r\nHost: site.test\r\n\r\n",
		strings.Repeat("GET / HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n", 20), // pipelined, for more than fits
	} {
		c := dialNarrow(t, "127.0.0.2", p.Addr, 4<<10)
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
	}
	rawtest.Until(t, "the site's page is asked for", func() bool { return len(o.Requests()) == 1 })

	// Slower altogether than a write may last, but never still.
	unlessStill(t, func() error {
		c := dialNarrow(t, "127.0.0.3", p.Addr, 128<<10)
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "GET /large HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n"); err != nil {
			return err
		}
		pace, got := time.NewTicker(100*time.Millisecond), 0 // 4.8 seconds
		defer pace.Stop()
		for buf := make([]byte, 128<<10); ; <-pace.C {
			n, err := io.ReadFull(c, buf)
			if got += n; err != nil {
				break
			}
		}
		if got < large {
			return fmt.Errorf("a slow reader got %d bytes of %d", got, large)
		}
		return nil
	})
	rawtest.Until(t, "those who do not read are cut off", func() bool { return connectionsOf(t, p).Open <= 1 })
}

// unlessStill is for what Concert ends after seconds in which nothing comes or
// goes. An attempt that fails is repeated when the machine has stood still
// meanwhile, and only then.
func unlessStill(t *testing.T, attempt func() error) {
	t.Helper()
	const still, attempts = time.Second, 5
	var err error
	for range attempts {
		longest := standstill()
		err = attempt()
		took := longest()
		if err == nil {
			return
		}
		if took < still {
			t.Fatal(err)
		}
		t.Logf("once more, as the machine stood still for %v: %v", took, err)
	}
	t.Fatal(err)
}

// standstill begins to watch how regularly this process gets to run. The function
// it returns ends that, and returns the longest pause.
func standstill() (longest func() time.Duration) {
	stop, paused := make(chan struct{}), make(chan time.Duration)
	go func() { // ends with the call of longest
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		var most time.Duration
		for last := time.Now(); ; {
			select {
			case <-stop:
				paused <- max(most, time.Since(last))
				return
			case <-tick.C:
				most, last = max(most, time.Since(last)), time.Now()
			}
		}
	}()
	return func() time.Duration { close(stop); return <-paused }
}

// TestSlowUploadIsReceived: a bad line is no attack.
func TestSlowUploadIsReceived(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-body-timeout", "3s")
	unlessStill(t, func() error {
		c := rawtest.DialFrom(t, "127.0.0.3", p.Addr)
		defer c.Close()
		c.Send("POST /up HTTP/1.1\r\nHost: site.test\r\nContent-Length: 20480\r\n\r\n")
		pace := time.NewTicker(200 * time.Millisecond)
		defer pace.Stop()
		for range 20 { // 4 seconds
			if err := c.TrySend(strings.Repeat("x", 1024)); err != nil {
				return err
			}
			<-pace.C
		}
		if text := make([]byte, 12); !readable(c, text) || string(text) != "HTTP/1.1 200" {
			return fmt.Errorf("%q, want 200", text)
		}
		return nil
	})
}

// TestSlowHeaderGets408: the client can see why.
func TestSlowHeaderGets408(t *testing.T) {
	t.Parallel()
	p := start(t, newOrigin(t).Addr(), "-read-header-timeout", "1s")
	c := rawtest.DialFrom(t, "127.0.0.3", p.Addr)
	c.Send("GET / HTTP/1.1\r\nHost: site.test\r\nX-Slow")
	if r := c.ReadResponse("GET"); r.Status() != "408" || !strings.Contains(string(r.Body), "try again") {
		t.Errorf("%s, body %q; want a 408 that says so", r.Line, r.Body)
	}
	c.Ended()
}
