package blackbox

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// streamer is an origin with a socket that echoes and an event stream that
// sends an event for every tick of the test, after what hello in the query says.
type streamer struct {
	*httptest.Server
	tick chan int
}

func newStreamer(t *testing.T) *streamer {
	s := &streamer{tick: make(chan int)}
	mux := http.NewServeMux()
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer c.CloseNow()
		for {
			kind, message, err := c.Read(r.Context())
			if err != nil || c.Write(r.Context(), kind, message) != nil {
				return
			}
		}
	})
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		fmt.Fprint(w, r.URL.Query().Get("hello"))
		rc := http.NewResponseController(w)
		for rc.Flush() == nil {
			select {
			case n := <-s.tick:
				fmt.Fprintf(w, "data: %d\n\n", n)
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, originMark) })
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func startStreaming(t *testing.T, args ...string) (*streamer, *launch.Process) {
	s := newStreamer(t)
	return s, start(t, strings.TrimPrefix(s.URL, "http://"), append([]string{"-cap", "1", quick, "-stream-paths", "/ws,/events"}, args...)...)
}

// dial opens a socket with the visitor's cookies.
func (v *visitor) dial(path string) (*websocket.Conn, *http.Response, error) {
	return websocket.Dial(within(v.t, rawtest.Patience), v.base+path, &websocket.DialOptions{HTTPClient: v.client})
}

// checkEcho wants a socket that says what it is told.
func (v *visitor) checkEcho(path string) {
	v.t.Helper()
	c, _, err := v.dial(path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer c.CloseNow()
	ctx := within(v.t, rawtest.Patience)
	if err := c.Write(ctx, websocket.MessageText, []byte("hello")); err != nil {
		v.t.Fatal(err)
	}
	if _, got, err := c.Read(ctx); err != nil || string(got) != "hello" {
		v.t.Errorf("echo %q, %v", got, err)
	}
}

func TestWebSocket(t *testing.T) {
	_, p := startStreaming(t, "-stream-cap", "1")
	v := newVisitor(t, p)
	if _, resp, err := v.dial("/ws"); err == nil || resp == nil || resp.StatusCode != 403 {
		t.Fatalf("without a pass: response %v, error %v; want 403", resp, err)
	}
	v.page("/")
	c, _, err := v.dial("/ws")
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	ctx := within(t, rawtest.Patience)
	for i := range 3 {
		want := fmt.Sprintf("message %d", i)
		if err := c.Write(ctx, websocket.MessageText, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := c.Read(ctx); err != nil || string(got) != want {
			t.Fatalf("echo %q, %v; want %q", got, err, want)
		}
	}
	if _, resp, err := v.dial("/ws"); err == nil || resp == nil || resp.StatusCode != 503 {
		t.Errorf("beyond -stream-cap: response %v, error %v; want 503", resp, err)
	}
	if got := stats(t, p).StreamActive; got != 1 {
		t.Errorf("%d streams, want 1", got)
	}
	c.CloseNow()
	rawtest.Until(t, "the stream has ended", func() bool { return stats(t, p).StreamActive == 0 })
}

// TestEventsArriveOneByOne: see checkEvents.
func TestEventsArriveOneByOne(t *testing.T) {
	s, p := startStreaming(t)
	v := newVisitor(t, p)
	v.page("/")
	checkEvents(t, s, v, "/events") // its header comes before any event exists
}

// checkEvents reads each event before the next is sent, so a proxy that holds
// any of them back never gets to the second. It returns the protocol spoken.
func checkEvents(t *testing.T, s *streamer, v *visitor, path string) (proto string) {
	t.Helper()
	req, err := http.NewRequestWithContext(within(t, rawtest.Patience), http.MethodGet, v.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if hello := req.URL.Query().Get("hello"); hello != "" && (!lines.Scan() || lines.Text() != strings.TrimSpace(hello)) {
		t.Fatalf("at the beginning: got %q, %v", lines.Text(), lines.Err())
	}
	for i := range 3 {
		select {
		case s.tick <- i:
		case <-req.Context().Done():
			t.Fatalf("event %d: the origin has no listener", i)
		}
		if !lines.Scan() || lines.Text() != fmt.Sprintf("data: %d", i) {
			t.Fatalf("event %d: got %q, %v", i, lines.Text(), lines.Err())
		}
		lines.Scan() // the empty line behind it
	}
	return resp.Proto
}

// TestRefusedUpgradeLeavesNoTunnel: what comes right behind a refused upgrade is a
// request of its own, and no part of a tunnel.
func TestRefusedUpgradeLeavesNoTunnel(t *testing.T) {
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		if strings.Contains(x.Request.Line, "/ws") {
			x.Write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			return
		}
		x.Write(okPage(x.Request))
	})
	p := start(t, o.Addr(), "-cap", "5", "-stream-paths", "/ws", "-stream-cap", "1")
	v := newVisitor(t, p)
	v.page("/")
	c := rawtest.Dial(t, p.Addr)
	c.Send("GET /ws HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: concert_admit=" + v.cookie("concert_admit") + "\r\n\r\n" +
		"GET /_room/cap HTTP/1.1\r\nHost: site.test\r\n\r\n")
	if r := c.ReadResponse("GET"); r.Status() != "403" {
		t.Errorf("upgrade: status %s, want the origin's 403", r.Status())
	}
	c.CloseWrite()
	c.Ended() // answered or not, what was appended has been dealt with
	for _, r := range o.Requests() {
		if strings.Contains(r.Line, "/_room/") {
			t.Errorf("the origin got %q", r.Line)
		}
	}
	rawtest.Until(t, "the stream's slot is free", func() bool { return stats(t, p).StreamActive == 0 })
}
