package queue

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func TestBrowserGetsTheWaitingPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newLine(oneSlot()), nil)
		r.fill()
		w := r.do("GET", "/shop?x=1", html)
		if w.Code != http.StatusOK {
			t.Fatalf("status %d", w.Code)
		}
		checkPrivate(t, w)
		h := w.Header()
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Content-Language": "en", "X-Content-Type-Options": "nosniff", "Retry-After": "",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if got := h.Get("Concert-Queue"); !strings.HasPrefix(got, "position=1") {
			t.Errorf("Concert-Queue: %q", got)
		}
		if got := h.Get("Content-Security-Policy"); !strings.Contains(got, "script-src 'sha256-") {
			t.Errorf("policy %q", got)
		}
		if body := w.Body.String(); !strings.Contains(body, `id="position">1<`) || !strings.Contains(body, "/queue/status") {
			t.Error("the body is not the waiting page")
		}
		if r.seen() != "" {
			t.Errorf("the origin was asked: %s", r.seen())
		}
	})
}

func TestCookies(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		tls    bool
		ticket string
		probe  string
	}{
		{"plain", nil, false,
			"; Path=/; Max-Age=300; HttpOnly; SameSite=Lax", "room_probe=1; Path=/; Max-Age=300; SameSite=Lax"},
		{"tls", nil, true,
			"; Path=/; Max-Age=300; HttpOnly; Secure; SameSite=Lax", "room_probe=1; Path=/; Max-Age=300; Secure; SameSite=Lax"},
		{"configured", func(c *Config) {
			c.CookieSecure, c.CookiePath, c.CookieDomain, c.TicketTTL = true, "/shop", "example.com", 30*time.Second
		}, false,
			"; Path=/shop; Domain=example.com; Max-Age=30; HttpOnly; Secure; SameSite=Lax",
			"room_probe=1; Path=/shop; Domain=example.com; Max-Age=30; Secure; SameSite=Lax"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, newLine(oneSlot()), tt.change)
			r.fill()
			target := "/"
			if tt.tls {
				target = "https://example.com/"
			}
			set := r.do("GET", target, html).Header()["Set-Cookie"]
			if len(set) != 2 {
				t.Fatalf("cookies %q", set)
			}
			value, attributes, _ := strings.Cut(set[0], ";")
			if !strings.HasPrefix(value, "room_ticket=") || ";"+attributes != tt.ticket {
				t.Errorf("ticket %q, want attributes %q", set[0], tt.ticket)
			}
			if set[1] != tt.probe {
				t.Errorf("probe %q, want %q", set[1], tt.probe)
			}
		})
	}
}

func TestProgramGetsJSONAndAPlace(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	w := r.do("GET", "/api/orders", accept("application/json"))
	if w.Code != http.StatusTooManyRequests {
		t.Fatalf("status %d", w.Code)
	}
	checkPrivate(t, w)
	if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("type %q", got)
	}
	if got := w.Header().Get("Retry-After"); got != "5" {
		t.Errorf("Retry-After %q", got)
	}
	if ticketOf(w) == "" || w.Header().Get("Concert-Queue") == "" {
		t.Error("no ticket or no Concert-Queue header")
	}
	const start = `{"hint":"keep the room_ticket cookie and retry to hold your position","queued":true,"retry_after_seconds":5,"status_url":"/queue/status"`
	if !strings.HasPrefix(w.Body.String(), start) {
		t.Errorf("body %s", w.Body)
	}
	st := decode(t, w)
	if st.Position != 1 || st.PollAfterMS <= 0 || st.Submitted != nil {
		t.Errorf("got %+v", st)
	}
}

func TestWithoutAPIJSONEverybodyGetsThePage(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), func(c *Config) { c.APIJSON = false })
	r.fill()
	w := r.do("GET", "/api", accept("application/json"))
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("status %d, type %q", w.Code, w.Header().Get("Content-Type"))
	}
}

func TestStatusCodeOfThePage(t *testing.T) {
	for code, retry := range map[int]bool{200: false, 202: false, 429: true, 503: true} {
		r := newRig(t, newLine(oneSlot()), func(c *Config) { c.StatusCode = code })
		r.fill()
		w := r.do("GET", "/", html)
		if w.Code != code || (w.Header().Get("Retry-After") != "") != retry {
			t.Errorf("%d: status %d, Retry-After %q", code, w.Code, w.Header().Get("Retry-After"))
		}
	}
}

func TestCustomPage(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), func(c *Config) {
		c.HTML, c.SkipURL = []byte(`<p>{{.Position}}</p><a href="{{.SkipURL}}">`), "/pay"
	})
	r.fill()
	w := r.do("GET", "/", html)
	if got := w.Body.String(); got != `<p>1</p><a href="/pay">` {
		t.Errorf("body %q", got)
	}
	if w.Header().Get("Content-Security-Policy") != "" {
		t.Error("the custom page is sent with a policy of ours")
	}
	checkPrivate(t, w)
}

func TestStrikes(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	first := r.do("GET", "/", html)
	mine := ticketOf(first)
	ranOut := TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, anyTicket()))
	tests := []struct {
		name    string
		options []option
		struck  bool
	}{
		{"no cookie", nil, true},
		{"made up", []option{cookie("room_ticket=x")}, true},
		{"empty", []option{cookie("room_ticket=")}, true},
		{"look-alikes", []option{cookie("Room_Ticket=1; xroom_ticket=2; room_ticket2=3")}, true},
		{"in line", []option{cookie(mine)}, false},
		{"ran out", []option{cookie(ranOut)}, false},
		{"with a pass", []option{withPass("somebody")}, false},
		{"prefetch", []option{header("Sec-Purpose", "prefetch")}, false},
		{"image", []option{header("Sec-Fetch-Dest", "image")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			had := r.strikes.Load()
			r.do("GET", "/", append(tt.options, html)...)
			if got := r.strikes.Load() != had; got != tt.struck {
				t.Errorf("struck %v, want %v", got, tt.struck)
			}
		})
	}
}

func TestConnectionIsLetGo(t *testing.T) {
	for _, tt := range []struct {
		name    string
		pause   time.Duration
		major   int
		trusted bool
		close   bool
	}{
		{"back soon", 10 * time.Second, 1, false, false},
		{"back late", 11 * time.Second, 1, false, true},
		{"back late on HTTP/2", 11 * time.Second, 2, false, false},
		{"back late through a trusted proxy", 11 * time.Second, 1, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := waitingAt(3)
			d.Place.PollAfter = tt.pause
			r := newRig(t, &script{answers: []line.Decision{d}, status: line.Status{Known: true, Place: d.Place}}, nil)
			v := func(req *http.Request) {
				req.ProtoMajor = tt.major
				if tt.trusted {
					req.RemoteAddr = "127.0.0.1:1234"
				}
			}
			w := r.do("GET", "/", html, v)
			if got := w.Header().Get("Connection") == "close"; got != tt.close {
				t.Errorf("page: closes %v, want %v", got, tt.close)
			}
			w = r.do("GET", StatusPath, cookie(ticketOf(w)), v)
			if got := w.Header().Get("Connection") == "close"; got != tt.close || w.Code != http.StatusOK {
				t.Errorf("poll: %d, closes %v, want %v", w.Code, got, tt.close)
			}
		})
	}
}
