package blackbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

const upgrade = "GET /ws HTTP/1.1\r\nHost: site.test\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

// tunnelling is an origin that says hello in the same write as its 101, and
// echoes from then on. Its other paths are pages.
func tunnelling(t *testing.T, args ...string) (*origin, *launch.Process, string) {
	t.Helper()
	o := &origin{t: t, openAll: func() {}}
	o.Origin = rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		if !strings.Contains(x.Request.Line, " /ws") {
			x.Write(okPage(x.Request))
			return
		}
		x.Write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nHELLO")
		for text := x.Read(); text != ""; text = x.Read() {
			if text == "bye" {
				break
			}
			if text == "crash" {
				x.Reset()
				return
			}
			x.Write(text)
		}
		x.Close()
	})
	p := start(t, o.Addr(), append([]string{"-cap", "5", "-stream-paths", "/ws,/events"}, args...)...)
	v := newVisitor(t, p)
	v.page("/")
	return o, p, "Cookie: concert_admit=" + v.cookie("concert_admit") + "\r\n"
}

// open opens a tunnel and reads the origin's first words.
func open(t *testing.T, p *launch.Process, pass, headers string) *rawtest.Client {
	t.Helper()
	c := rawtest.Dial(t, p.Addr)
	c.Send(upgrade + pass + headers + "\r\n")
	if r := c.ReadResponse("GET"); r.Status() != "101" {
		t.Fatalf("%q: status %s, want 101", headers, r.Status())
	}
	if got := c.ReadFull(5); got != "HELLO" {
		t.Fatalf("%q: the origin's first words are %q", headers, got)
	}
	return c
}

const plainUpgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"

// TestOriginMaySpeakFirst: what comes in one piece with the 101 is not lost.
func TestOriginMaySpeakFirst(t *testing.T) {
	_, p, pass := tunnelling(t)
	for range 100 {
		open(t, p, pass, plainUpgrade).Close()
	}
}

// TestUpgradeSpellings: browsers differ in how they ask.
func TestUpgradeSpellings(t *testing.T) {
	_, p, pass := tunnelling(t)
	for _, headers := range []string{
		"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n", "connection: upgrade\r\nupgrade: websocket\r\n",
		"Connection: Upgrade\r\nUpgrade: WebSocket\r\n", "Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
	} {
		c := open(t, p, pass, headers)
		c.Send("echo")
		if got := c.ReadFull(4); got != "echo" {
			t.Errorf("%q: echo %q", headers, got)
		}
		c.Close()
	}
}

// TestTunnelsEndOnBothSides, whichever side ends them and however.
func TestTunnelsEndOnBothSides(t *testing.T) {
	o, p, pass := tunnelling(t)
	var open20 []*rawtest.Client
	for range 20 {
		open20 = append(open20, open(t, p, pass, plainUpgrade))
	}
	if got := stats(t, p).StreamActive; got != 20 {
		t.Errorf("%d streams, want 20", got)
	}
	for i, c := range open20 {
		switch i % 4 {
		case 0:
			c.Close()
		case 1:
			c.Reset()
		case 2:
			c.Send("bye")
			c.Ended()
		case 3:
			c.Send("crash")
			c.Ended()
		}
	}
	rawtest.Until(t, "all streams have ended", func() bool { return stats(t, p).StreamActive == 0 })
	rawtest.Until(t, "the connections to the origin are closed", func() bool { return o.Open() <= 1 })
}

// TestBehindARefusedUpgrade: a ban path right behind it bans, and the slot is
// free for the next upgrade.
func TestBehindARefusedUpgrade(t *testing.T) {
	refused := true
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		switch {
		case !strings.Contains(x.Request.Line, " /ws"):
			x.Write(okPage(x.Request))
		case refused:
			refused = false // only this test's own requests come here, one after the other
			x.Write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
		default:
			x.Write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nHELLO")
			x.AwaitEnd()
		}
	})
	p := start(t, o.Addr(), "-cap", "5", "-stream-paths", "/ws", "-stream-cap", "1", "-ban-paths", "/.env")
	v := newVisitor(t, p)
	v.page("/")
	pass := "Cookie: concert_admit=" + v.cookie("concert_admit") + "\r\n"
	c := rawtest.DialFrom(t, stranger, p.Addr)
	c.Send(upgrade + pass + plainUpgrade + "\r\nGET /.env HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n")
	if r := c.ReadResponse("GET"); r.Status() != "403" || string(r.Body) != "no" {
		t.Errorf("upgrade: status %s, body %q; want the origin's 403", r.Status(), r.Body)
	}
	if rest, _ := c.ReadAll(); rest != "" && !strings.HasPrefix(rest, "HTTP/1.1 429 ") {
		t.Errorf("behind it came %q, want a ban or the end", rest)
	}
	for _, r := range o.Requests() {
		if strings.Contains(r.Line, ".env") {
			t.Errorf("the origin got %q", r.Line)
		}
	}
	open(t, p, pass, plainUpgrade)
}

// TestStreamsAreGuarded: a stream needs a pass and a slot, and only an upgrade
// that was asked for makes a tunnel.
func TestStreamsAreGuarded(t *testing.T) {
	_, p, pass := tunnelling(t, "-stream-cap", "2")
	for _, lines := range []string{upgrade + plainUpgrade, upgrade + "Cookie: concert_admit=made-up\r\n" + plainUpgrade} {
		c := rawtest.Dial(t, p.Addr)
		c.Send(lines + "\r\n")
		if r := c.ReadResponse("GET"); r.Status() != "403" {
			t.Errorf("%q: status %s, want 403", lines, r.Status())
		}
	}
	for range 2 {
		open(t, p, pass, plainUpgrade)
	}
	c := rawtest.Dial(t, p.Addr)
	c.Send(upgrade + pass + plainUpgrade + "\r\n")
	if r := c.ReadResponse("GET"); r.Status() != "503" || r.Value("Retry-After") == "" {
		t.Errorf("beyond -stream-cap: status %s, header %q", r.Status(), r.Fields)
	}
	if a := newVisitor(t, p).page("/page"); !a.isOrigin() {
		t.Errorf("page beside full streams: status %d", a.status)
	}
}

// TestBanEndsStreams: a socket from before the ban is of no use.
func TestBanEndsStreams(t *testing.T) {
	_, p := startStreaming(t, "-ban-paths", "/.env")
	v := newVisitor(t, p).at("203.0.113.9")
	v.page("/")
	c, _, err := websocket.Dial(within(t, rawtest.Patience), v.base+"/ws", &websocket.DialOptions{HTTPClient: v.client, HTTPHeader: v.header})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if a := v.page("/.env"); a.status != http.StatusTooManyRequests {
		t.Fatalf("ban path: status %d", a.status)
	}
	if _, _, err := c.Read(within(t, rawtest.Patience)); err == nil {
		t.Error("the socket of a banned client still works")
	}
	rawtest.Until(t, "the stream has ended", func() bool { return stats(t, p).StreamActive == 0 })
}

// TestSlowOriginsAreNotCutOff: -upstream-timeout is about the header alone, so
// streams and pages may take longer.
func TestSlowOriginsAreNotCutOff(t *testing.T) {
	step, done := make(chan struct{}), make(chan struct{})
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		if strings.Contains(x.Request.Line, "/silent") {
			x.AwaitEnd()
			return
		}
		if !strings.Contains(x.Request.Line, "/slow") {
			x.Write(okPage(x.Request))
			return
		}
		x.Write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
		select {
		case <-step:
			x.Write("def")
		case <-done:
		}
	})
	t.Cleanup(func() { close(done) })
	p := start(t, o.Addr(), "-cap", "2", quick, "-upstream-timeout", "500ms", "-stream-paths", "/ws/*")
	v := newVisitor(t, p)
	rawtest.Until(t, "a page comes in time", func() bool { return v.page("/").isOrigin() })
	pass := "Cookie: concert_admit=" + v.cookie("concert_admit") + "\r\n"
	var slow []*rawtest.Client
	for _, path := range []string{"/slow", "/ws/slow"} {
		rawtest.Until(t, "the header comes in time", func() bool {
			c := rawtest.Dial(t, p.Addr)
			c.Send("GET " + path + " HTTP/1.1\r\nHost: site.test\r\n" + pass + "\r\n")
			head := c.ReadHead()
			switch {
			case head.Line == "HTTP/1.1 504 Gateway Timeout":
				c.Close()
				return false
			case head.Line != "HTTP/1.1 200 OK" || c.ReadFull(3) != "abc":
				t.Fatalf("%s: %q", path, head)
			}
			slow = append(slow, c)
			return true
		})
	}
	// An origin without a header is given up meanwhile, after the whole time.
	if r := raw(t, p, trusted, "GET /silent HTTP/1.1", "Host: site.test"); r.Status() != "504" {
		t.Errorf("silent origin: status %s, want 504", r.Status())
	}
	close(step)
	for _, c := range slow {
		if got := c.ReadFull(3); got != "def" {
			t.Errorf("the rest of a slow body is %q", got)
		}
	}
	rawtest.Until(t, "the slots are free", func() bool { return stats(t, p).Occupancy == 0 })
}

// TestPagesAreNotHeldBack: a page that comes in pieces is shown in pieces.
func TestPagesAreNotHeldBack(t *testing.T) {
	const piece = "5\r\n<br>\n\r\n"
	next, done := make(chan struct{}), make(chan struct{})
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		x.Write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 3 {
			select {
			case <-next:
				x.Write(piece)
			case <-done:
			}
		}
		x.Write("0\r\n\r\n")
	})
	t.Cleanup(func() { close(done) })
	for _, logged := range []string{"true", "false"} {
		p := start(t, o.Addr(), "-cap", "5", "-access-log="+logged)
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET / HTTP/1.1\r\nHost: site.test\r\n\r\n")
		c.ReadHead() // before any byte of the body exists
		for range 3 {
			next <- struct{}{}
			if got := c.ReadFull(len(piece)); got != piece {
				t.Fatalf("piece %q, want %q", got, piece)
			}
		}
	}
}
