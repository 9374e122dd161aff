package queue

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestStatusOfEveryKindOfTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newLine(oneSlot()), nil)
		r.fill()
		join(t, r.line)
		mine := ticketOf(r.do("GET", "/", html))
		left := ticketOf(r.do("GET", "/", html))
		r.do("POST", LeavePath, cookie(left))
		for _, tt := range []struct{ name, cookies, want string }{
			{"none", "other=1", `{"ready":false,"cookies_required":true}`},
			{"look-alike", "Room_Ticket=1", `{"ready":false,"cookies_required":true}`},
			{"empty", "room_ticket=", `{"ready":true}`},
			{"made up", "room_ticket=0123456789abcdef0123456789abcdef", `{"ready":true}`},
			{"given back", left, `{"ready":true}`},
		} {
			w := r.do("GET", StatusPath, cookie(tt.cookies))
			if w.Code != http.StatusOK || w.Body.String() != tt.want {
				t.Errorf("%s: %d %s, want %s", tt.name, w.Code, w.Body, tt.want)
			}
			checkPrivate(t, w)
		}
		w := r.do("GET", StatusPath, cookie(mine))
		st := decode(t, w)
		if w.Code != http.StatusOK || st.Ready || st.Position != 2 || st.Ahead != 1 || st.PollAfterMS < 500 || st.State != "waiting" {
			t.Errorf("waiting: %d %s", w.Code, w.Body)
		}
		if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("type %q", got)
		}
		checkPrivate(t, w)
	})
}

func TestStatusIsReadyWhenTheTurnHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newLine(oneSlot()), nil)
		release := r.fill()
		mine := ticketOf(r.do("GET", "/", html))
		time.Sleep(time.Second)
		release()
		for range 3 { // asking again instead of coming changes nothing
			w := r.do("GET", StatusPath, cookie(mine))
			if w.Code != http.StatusOK || w.Body.String() != `{"ready":true}` || w.Header()["Set-Cookie"] != nil {
				t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
			}
		}
		if w := r.do("GET", "/", html, cookie(mine)); w.Body.String() != "from the origin" {
			t.Errorf("not admitted: %.100s", w.Body)
		}
		if got := r.waits[0]; got != time.Second {
			t.Errorf("the wait was %v, want 1s", got)
		}
		if w := r.do("GET", StatusPath, cookie(mine)); w.Body.String() != `{"ready":true}` {
			t.Errorf("a used ticket: %s", w.Body)
		}
	})
}

func TestHastyPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, newLine(oneSlot()), nil)
		r.fill()
		join(t, r.line)
		mine := ticketOf(r.do("GET", "/", html))
		other := ticketOf(r.do("GET", "/", html))
		poll := func(pair string, wantCode, wantPosition int) {
			t.Helper()
			w := r.do("GET", StatusPath, cookie(pair))
			st := decode(t, w)
			if w.Code != wantCode || st.Position != wantPosition || st.Ready {
				t.Errorf("%d %s, want %d", w.Code, w.Body, wantCode)
			}
			retry := ""
			if wantCode == http.StatusTooManyRequests {
				retry = "1"
				if w.Header()["Set-Cookie"] != nil {
					t.Error("cookies on a hasty poll")
				}
				checkPrivate(t, w)
			}
			if got := w.Header().Get("Retry-After"); got != retry {
				t.Errorf("Retry-After %q, want %q", got, retry)
			}
		}
		poll(mine, 200, 2) // right behind the page
		poll(mine, 429, 2)
		poll(other, 200, 3) // somebody else's polls are their own
		time.Sleep(600 * time.Millisecond)
		poll(mine, 429, 2)
		time.Sleep(400 * time.Millisecond)
		poll(mine, 200, 2) // hasty polls do not push the second on
		if got := r.stage.Stats(); got.HastyPolls != 2 || got.Polls != 5 || got.Pages != 2 {
			t.Errorf("stats %+v", got)
		}
	})
}

// TestCookiesAreRenewed polls for an hour at several paces: the cookies are
// sent again at most once in a third of their lifetime, and before they end.
func TestCookiesAreRenewed(t *testing.T) {
	for _, gap := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 70 * time.Second, 99 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			settings := oneSlot()
			settings.FirstPollGrace = 0 // the slowest come later than that
			r := newRig(t, newLine(settings), nil)
			r.fill()
			mine := ticketOf(r.do("GET", "/", html))
			began, last, sent := time.Now(), time.Now(), 0
			for time.Since(began) < time.Hour {
				time.Sleep(gap)
				w := r.do("GET", StatusPath, cookie(mine))
				if w.Header()["Set-Cookie"] == nil {
					continue
				}
				sent++
				if got := ticketOf(w); got != mine {
					t.Fatalf("the ticket became %q", got)
				}
				if ago := time.Since(last); ago > r.stage.live.Load().cfg.TicketTTL {
					t.Errorf("gap %v: cookies after %v", gap, ago)
				}
				last = time.Now()
			}
			if sent < 12 || sent > 36 {
				t.Errorf("gap %v: cookies sent %d times in an hour, want 12 to 36", gap, sent)
			}
		})
	}
}

func TestMethodsOfTheEndpoints(t *testing.T) {
	tests := []struct {
		path, method string
		code         int
		allow        string
	}{
		{StatusPath, "HEAD", 200, ""},
		{StatusPath, "OPTIONS", 204, "GET, HEAD, OPTIONS"},
		{StatusPath, "POST", 405, "GET, HEAD, OPTIONS"},
		{StatusPath, "BREW", 405, "GET, HEAD, OPTIONS"},
		{LeavePath, "GET", 200, ""},
		{LeavePath, "HEAD", 200, ""},
		{LeavePath, "OPTIONS", 204, "GET, HEAD, OPTIONS, POST"},
		{LeavePath, "DELETE", 405, "GET, HEAD, OPTIONS, POST"},
		{"/queue/other", "GET", 404, ""},
		{"/queue/status/", "GET", 404, ""},
		{"/queue%2fstatus", "GET", 404, ""},
		{"/queue/%73tatus", "GET", 404, ""},
		{"//queue/leave", "POST", 404, ""},
	}
	for _, tt := range tests {
		r := newRig(t, newLine(oneSlot()), nil)
		w := r.do(tt.method, tt.path)
		if w.Code != tt.code || w.Header().Get("Allow") != tt.allow {
			t.Errorf("%s %s: %d, Allow %q", tt.method, tt.path, w.Code, w.Header().Get("Allow"))
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s may be cached", tt.method, tt.path)
		}
		if tt.method == "HEAD" && (w.Body.Len() > 0 || w.Header().Get("Content-Length") == "0") {
			t.Errorf("%s %s: %d bytes of body, length %s", tt.method, tt.path, w.Body.Len(), w.Header().Get("Content-Length"))
		}
		if w.Header()["Access-Control-Allow-Origin"] != nil || r.seen() != "" {
			t.Errorf("%s %s: %v, origin %q", tt.method, tt.path, w.Header(), r.seen())
		}
	}
}
