package fuzz

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/pipeline"
)

// origin answers at once and notes what reached it.
type origin struct {
	classes []pipeline.Class
	clients []clientip.Client
}

func (o *origin) Serve(v *pipeline.Visit) error {
	o.classes = append(o.classes, v.Class)
	o.clients = append(o.clients, v.Client)
	v.EditResponse(http.StatusOK, v.W.Header())
	v.W.WriteHeader(http.StatusOK)
	return nil
}

// newConcert is the whole of Concert before an origin that notes.
func newConcert(tb testing.TB, flags ...string) (*app.App, *origin) {
	tb.Helper()
	loaded, err := config.Load(append([]string{"-cap", "2", "-assets", "/css/*", "-asset-public", "/pub/*",
		"-bypass", "/favicon.ico", "-stream-paths", "/ws"}, flags...), nil)
	if err != nil {
		tb.Fatal(err)
	}
	o := &origin{}
	a, err := app.New(loaded.Config, app.Options{Origin: o})
	if err != nil {
		tb.Fatal(err)
	}
	return a, o
}

// serve puts a request, as bytes from a trusted peer, through Concert. It
// returns nil when net/http would have refused the bytes itself.
func serve(a *app.App, raw []byte) *httptest.ResponseRecorder {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return nil
	}
	r.RemoteAddr = "127.0.0.1:5000"
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return w
}

// FuzzRequest sends arbitrary requests through all stages: no panic, a status
// that exists, no slot left behind, and nothing of Concert's own at the origin.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n",
		"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
		"GET /css/../checkout HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /_room/stats HTTP/1.1\r\nHost: a\r\n\r\n",
		"DELETE //_room/cap HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
		"CONNECT b:22 HTTP/1.1\r\nHost: b:22\r\n\r\n",
		"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: concert_admit=x; room_ticket=\"\r\n\r\n",
		"HEAD /queue/status HTTP/1.1\r\nHost: a\r\nCookie: room_ticket=AAAA\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	a, o := newConcert(f, "-abuse=false")
	f.Fuzz(func(t *testing.T, raw []byte) {
		o.classes = o.classes[:0]
		w := serve(a, raw)
		if w == nil {
			return
		}
		if w.Code < 200 || w.Code > 599 {
			t.Errorf("status %d", w.Code)
		}
		for _, c := range o.classes {
			if c == pipeline.Operations || c == pipeline.Unclassified {
				t.Errorf("a %v request reached the origin", c)
			}
		}
		if s := a.Stats(); s.Occupancy != 0 || s.AssetInFlight != 0 || s.StreamActive != 0 {
			t.Errorf("left behind: %d page, %d asset, %d stream slots", s.Occupancy, s.AssetInFlight, s.StreamActive)
		}
	})
}

// FuzzPass offers arbitrary passes for an asset: none that Concert did not sign
// lets one through.
func FuzzPass(f *testing.F) {
	for _, seed := range []string{"", "x", "AQIDBA", strings.Repeat("A", 64), "AVVIODQPFdiAGE3_u1bUp55JGIW9AAAAAGsNeuwAAAJYF-WVwiI_Tx0tAgxfmHbVkA"} {
		f.Add(seed)
	}
	a, o := newConcert(f, "-abuse=false")
	f.Fuzz(func(t *testing.T, pass string) {
		o.classes = o.classes[:0]
		r := httptest.NewRequest("GET", "/css/site.css", nil)
		r.Header["Cookie"] = []string{"concert_admit=" + pass}
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || len(o.classes) != 0 {
			t.Errorf("pass %q: status %d, at the origin %v", pass, w.Code, o.classes)
		}
	})
}

// FuzzForwardedFor walks arbitrary chains: the client is the peer or an address
// that stands in the chain, never a trusted one with a stranger to its right.
func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"", "203.0.113.9", "127.0.0.1, 203.0.113.9:4711", "203.0.113.40, unknown", "[2001:db8::1]:443,,::1", "fe80::1%eth0"} {
		f.Add(seed, "127.0.0.1")
	}
	a, o := newConcert(f, "-cap", "1000000", "-abuse=false")
	f.Fuzz(func(t *testing.T, first, second string) {
		o.clients = o.clients[:0]
		r := httptest.NewRequest("GET", "/favicon.ico", nil)
		r.RemoteAddr = "127.0.0.1:5000"
		r.Header["X-Forwarded-For"] = []string{first, second}
		a.Handler().ServeHTTP(httptest.NewRecorder(), r)
		if len(o.clients) != 1 {
			t.Fatalf("%d requests at the origin", len(o.clients))
		}
		c := o.clients[0]
		if c.Addr != netip.MustParseAddr("127.0.0.1") && !stands(c.Addr, first+","+second) {
			t.Errorf("client %v stands nowhere in %q, %q", c.Addr, first, second)
		}
		if c.Key != clientip.KeyOf(c.Addr) {
			t.Errorf("key %v of client %v", c.Key, c.Addr)
		}
	})
}

// stands reports whether some part of the chain is the address, in any form.
func stands(addr netip.Addr, chain string) bool {
	for part := range strings.FieldsFuncSeq(chain, func(r rune) bool { return strings.ContainsRune(", \t[]", r) }) {
		part, _, _ = strings.Cut(part, "%")
		for _, text := range []string{part, strings.TrimRight(part[:max(strings.LastIndexByte(part, ':'), 0)], "]")} {
			if a, err := netip.ParseAddr(text); err == nil && a.Unmap() == addr {
				return true
			}
		}
	}
	return false
}
