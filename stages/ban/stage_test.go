package ban_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/stages/ban"
)

func TestWhatABannedClientGets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time stands still
		r := registry(t, nil)
		p := build(t, banStage(t, r), origin{})
		f := func(accept string, code int, retry, want string) {
			t.Helper()
			w := serve(p, request("GET", "/shop", "Accept", accept))
			h := w.Header()
			if w.Code != code || h.Get("Retry-After") != retry || h.Get("Cache-Control") != "no-store" || !strings.Contains(w.Body.String(), want) {
				t.Errorf("%d, Retry-After %q, Cache-Control %q, body %s", w.Code, h.Get("Retry-After"), h.Get("Cache-Control"), w.Body)
			}
			if !strings.HasSuffix(h.Get("Content-Type"), "; charset=utf-8") {
				t.Errorf("Content-Type %q", h.Get("Content-Type"))
			}
		}
		free := func() {
			t.Helper()
			if w := serve(p, request("GET", "/shop")); w.Code != 200 || w.Body.String() != "origin" {
				t.Errorf("%d %s, want the origin's answer", w.Code, w.Body)
			}
		}
		free()
		order(t, r, stranger, 299*time.Second+time.Millisecond)
		f("*/*", 429, "300", `{"error":"temporarily blocked","retry_after_seconds":300}`+"\n")
		f("text/html", 429, "300", "You can come back in 5 minutes.")
		time.Sleep(299 * time.Second)
		f("*/*", 429, "1", `{"error":"temporarily blocked","retry_after_seconds":1}`)
		time.Sleep(time.Millisecond)
		free()
		order(t, r, "203.0.112.0/22", 0)
		f("*/*", 403, "", `{"error":"blocked","permanent":true}`+"\n")
		f("text/html", 403, "", "You are blocked")
	})
}

func TestEveryMethodAndPathIsRefused(t *testing.T) {
	r := registry(t, nil)
	s := banStage(t, r)
	p := build(t, s, origin{})
	order(t, r, stranger, time.Hour)
	refused := 0
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "X"} {
		for _, target := range []string{"/", "/favicon.ico", "/_room/healthz", "/_room/abuse", "/queue/leave", "/css/a.css", "/Queue/status", "*"} {
			if method == "CONNECT" && target == "*" {
				continue
			}
			req := request(method, "/")
			req.RequestURI = target
			if w := serve(p, req); w.Code != 429 || w.Body.Len() == 0 != (method == "HEAD") {
				t.Errorf("%s %s: %d, %d bytes", method, target, w.Code, w.Body.Len())
			}
			refused++
		}
	}
	if got := s.Stats().Rejected; got != uint64(refused) {
		t.Errorf("%d requests counted as rejected, want %d", got, refused)
	}
}

func TestAPollIsToldToCome(t *testing.T) {
	r := registry(t, nil)
	p := build(t, banStage(t, r), origin{})
	order(t, r, stranger, time.Hour)
	for _, method := range []string{"GET", "HEAD"} {
		w := serve(p, request(method, "/queue/status", "Cookie", "room_ticket=x"))
		h := w.Header()
		if w.Code != 200 || h.Get("Cache-Control") != "no-store" || h.Get("Content-Length") != "14" || h["Set-Cookie"] != nil {
			t.Errorf("%s: %d %v", method, w.Code, h)
		}
		if method == "GET" && w.Body.String() != `{"ready":true}` {
			t.Errorf("body %s", w.Body)
		}
	}
	if w := serve(p, request("POST", "/queue/status")); w.Code != 429 {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestTheTicketIsCleared(t *testing.T) {
	r := registry(t, nil)
	p := build(t, banStage(t, r), origin{})
	f := func(req *http.Request, want string) {
		t.Helper()
		if got := strings.Join(serve(p, req).Header()["Set-Cookie"], "|"); got != want {
			t.Errorf("Set-Cookie %q, want %q", got, want)
		}
	}
	f(request("GET", "/.env", "Cookie", "a=b; room_ticket=x"), "room_ticket=; Path=/; Max-Age=0")
	f(request("GET", "/", "Cookie", "room_ticket="), "room_ticket=; Path=/; Max-Age=0")
	f(overTLS(request("GET", "/", "Cookie", "room_ticket=x")), "room_ticket=; Path=/; Max-Age=0; Secure")
	f(request("GET", "/", "Cookie", "a=b; room_ticket2=x"), "")
	f(request("GET", "/"), "")
}

func TestBanPaths(t *testing.T) {
	for _, target := range []string{
		"/.env", "/.ENV", "//.env", "/./.env", "/x/../.env", "/.env/", "/%2eenv", "/.env?x=1", "/.env;x", "/.git",
		"/.git/config", "/.git%2fconfig", `/a\..\.env`, "http://site.example/.env",
	} {
		t.Run(target, func(t *testing.T) {
			r := registry(t, nil)
			s := banStage(t, r)
			p := build(t, s, origin{})
			req := request("GET", "/")
			req.RequestURI = target
			for range 2 {
				if w := serve(p, req); w.Code != 429 || w.Header().Get("Retry-After") != "300" {
					t.Fatalf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
				}
				req = request("GET", "/")
			}
			if b := r.List(abuse.Filter{}, time.Now()); len(b) != 1 || b[0].Cause != abuse.CauseTrap || s.Stats().Rejected != 1 {
				t.Errorf("bans %+v, %d rejected", b, s.Stats().Rejected)
			}
		})
	}
	r := registry(t, nil)
	p := build(t, banStage(t, r), origin{})
	for _, target := range []string{"/", "/env", "/.envy", "/a/.env", "/css/.env", "/.gitignore", "/?/.env"} {
		if w := serve(p, request("GET", target)); w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

func TestBanPathsOfTheExempt(t *testing.T) {
	r := registry(t, func(c *abuse.Config) { c.Allow = trust(t, "203.0.113.0/24") })
	p := build(t, banStage(t, r), origin{})
	if w := serve(p, request("GET", "/.env")); w.Code != 200 || w.Body.String() != "origin" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestBanPathsWithAFullRoster(t *testing.T) {
	r := registry(t, func(c *abuse.Config) { c.MaxEntries = 1 })
	p := build(t, banStage(t, r), origin{})
	order(t, r, "198.51.100.1", 0)
	for range 2 {
		w := serve(p, request("GET", "/.env"))
		if w.Code != 429 || w.Header().Get("Retry-After") != "300" {
			t.Errorf("%d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
		}
	}
	if w := serve(p, request("GET", "/")); w.Code != 200 {
		t.Errorf("a client that is not on the roster gets %d elsewhere", w.Code)
	}
}

// The ladder: 70 bans in a row, each waited out.
func TestLadderOfCooldowns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := registry(t, func(c *abuse.Config) { c.Cooldown, c.MaxCooldown = time.Second, 8*time.Second })
		p := build(t, banStage(t, r), origin{})
		for i := range 70 {
			want := []int{1, 2, 4, 8}[min(i, 3)]
			w := serve(p, request("GET", "/.env"))
			body := fmt.Sprintf(`{"error":"temporarily blocked","retry_after_seconds":%d}`+"\n", want)
			if w.Code != 429 || w.Header().Get("Retry-After") != fmt.Sprint(want) || w.Body.String() != body {
				t.Fatalf("ban %d: %d, Retry-After %q, %s", i+1, w.Code, w.Header().Get("Retry-After"), w.Body)
			}
			time.Sleep(time.Duration(want) * time.Second)
			if w := serve(p, request("GET", "/")); w.Code != 200 {
				t.Fatalf("after ban %d: %d", i+1, w.Code)
			}
		}
	})
}

func TestApply(t *testing.T) {
	r := registry(t, nil)
	s := banStage(t, r)
	p := build(t, s, origin{})
	if s.Apply(ban.Config{Ticket: &http.Cookie{Name: "room_ticket", Path: "/;"}}) == nil {
		t.Error("a cookie that cannot be set was accepted")
	}
	if err := s.Apply(ban.Config{}); err != nil {
		t.Fatal(err)
	}
	if w := serve(p, request("GET", "/.env")); w.Code != 200 {
		t.Errorf("a former ban path: %d", w.Code)
	}
	order(t, r, stranger, time.Hour)
	if w := serve(p, request("GET", "/", "Cookie", "room_ticket=x")); w.Code != 429 || w.Header()["Set-Cookie"] != nil {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// Bans bite on connections that are open already, whatever their protocol.
func TestOpenConnections(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(name, func(t *testing.T) {
			r := registry(t, nil)
			srv := httptest.NewUnstartedServer(build(t, banStage(t, r), origin{}))
			srv.EnableHTTP2 = http2
			srv.StartTLS()
			defer srv.Close()
			got := ""
			for _, target := range []string{"/", "/.env", "/", "/_room/healthz"} {
				resp, err := srv.Client().Get(srv.URL + target)
				if err != nil {
					t.Fatal(err)
				}
				if resp.ProtoMajor == 2 != http2 {
					t.Errorf("the client speaks %s", resp.Proto)
				}
				if err := resp.Body.Close(); err != nil {
					t.Error(err)
				}
				got += fmt.Sprint(resp.StatusCode, " ")
			}
			if got != "200 429 429 429 " {
				t.Errorf("statuses %s", got)
			}
		})
	}
}
