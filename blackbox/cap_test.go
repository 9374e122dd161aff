package blackbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/bench/drain"
	"github.com/andreimerlescu/concert/demo/site"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestResizeWhileBusy shrinks the cap below what is in use and grows it again.
// Invariant 1.
func TestResizeWhileBusy(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "4", quick)
	o.fill(t, p, 4)
	var line []*visitor
	for range 6 {
		v := newVisitor(t, p)
		v.page("/hold/line")
		line = append(line, v)
	}
	if status := setCap(t, p, `{"cap":1}`); status != http.StatusOK {
		t.Fatalf("shrink: status %d", status)
	}
	for range 3 {
		o.letGo()
	}
	rawtest.Until(t, "three have left", func() bool { return stats(t, p).Occupancy == 1 })
	for _, v := range line {
		if v.status().Ready {
			t.Error("invariant 1: called in while the shrunken room is full")
		}
	}
	if status := setCap(t, p, `{"cap":5}`); status != http.StatusOK {
		t.Fatalf("grow: status %d", status)
	}
	for _, v := range line[:4] {
		v.awaitTurn() // without any new arrival
	}
	if got := stats(t, p).Cap; got != 5 {
		t.Errorf("cap %d, want 5", got)
	}
}

func TestBadCaps(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "4")
	for _, body := range []string{`{"cap":0}`, `{"cap":-1}`, `{"cap":1e12}`, `{"cap":"5"}`, `{"cap":2.5}`, `{}`, `{"cap":5}{"cap":6}`, `cap=5`, ``} {
		if status := setCap(t, p, body); status != http.StatusBadRequest {
			t.Errorf("%q: status %d, want 400", body, status)
		}
	}
	for _, token := range []string{"", "wrong", adminToken + "x"} {
		if status, _ := call(t, http.MethodPost, p.URL+"/_room/cap", token, `{"cap":9}`); status != http.StatusUnauthorized {
			t.Errorf("token %q: status %d, want 401", token, status)
		}
	}
	if got := stats(t, p).Cap; got != 4 {
		t.Errorf("cap %d, want 4 as before", got)
	}
}

// TestOriginNeverSeesMoreThanTheCap sends a crowd that polls and reloads as the
// waiting page does, some of whom leave.
// It holds invariant 1 over the whole program.
func TestOriginNeverSeesMoreThanTheCap(t *testing.T) {
	r, err := drain.Run(within(t, time.Minute), drain.Scenario{
		Name: "small", Visitors: 100, Arrival: 500 * time.Millisecond, Abandon: 0.1,
		Latency: 50 * time.Millisecond, Cap: 5, Timeout: time.Minute, Seed: 7,
	}, drain.Target{Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range r.Broken() {
		t.Error(broken)
	}
	if r.Peak == 0 || r.Admitted+r.Left != 100 {
		t.Errorf("%d admitted, %d left, peak %d: not the whole crowd", r.Admitted, r.Left, r.Peak)
	}
	t.Log(r)
}

// TestClientsWithoutCookies floods the room with clients that keep nothing.
func TestClientsWithoutCookies(t *testing.T) {
	s := site.New(site.Options{Workers: 1000, Latency: 5 * time.Millisecond})
	srv := httptest.NewServer(s)
	defer srv.Close()
	p := start(t, strings.TrimPrefix(srv.URL, "http://"), "-cap", "5", quick)
	var (
		all    sync.WaitGroup
		mu     sync.Mutex // guards counts
		counts = map[int]int{}
	)
	for range 50 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: rawtest.Patience}
			defer client.CloseIdleConnections()
			for i := range 20 {
				method := []string{http.MethodGet, http.MethodHead, http.MethodPost}[i%3]
				req, _ := http.NewRequestWithContext(t.Context(), method, p.URL+"/", nil)
				resp, err := client.Do(req)
				mu.Lock()
				if err != nil {
					counts[0]++
				} else {
					counts[resp.StatusCode]++
					resp.Body.Close()
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if counts[0]+counts[502]+counts[504]+counts[500] > 0 || counts[200] == 0 {
		t.Errorf("answers by status: %v", counts)
	}
	if got := s.Stats(); got.Peak > 5 {
		t.Errorf("invariant 1: origin %+v; want at most 5 pages at once", got)
	} else if got.Peak == 0 {
		t.Errorf("origin %+v; want some pages", got)
	}
}

// TestLeaversGiveTheirSlotsBack: a client that hangs up ends its request at the
// origin, and its slot is free when the origin is done. Invariant 5.
func TestLeaversGiveTheirSlotsBack(t *testing.T) {
	gone := make(chan bool, 2)
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		switch {
		case strings.Contains(x.Request.Line, "/before"):
			x.AwaitEnd()
			gone <- true
		case strings.Contains(x.Request.Line, "/middle"):
			x.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegin")
			x.AwaitEnd()
			gone <- true
		default:
			x.Write(okPage(x.Request))
		}
	})
	p := start(t, o.Addr(), "-cap", "1", quick)
	for _, path := range []string{"/before", "/middle"} {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET " + path + " HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
		if path == "/middle" {
			c.ReadHead()
		}
		rawtest.Until(t, "the request is at the origin", func() bool { return stats(t, p).Occupancy == 1 })
		c.Reset()
		<-gone
		rawtest.Until(t, "the slot is free", func() bool { return stats(t, p).Occupancy == 0 })
	}
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("the next visitor: status %d", a.status)
	}
}
