package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
)

// inBubble runs a test with a handler, in which time stands still at the first
// second of 2000.
func inBubble(t *testing.T, test func(t *testing.T, h *Handler)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		allow, err := clientip.ParseTrust("198.51.100.0/24")
		if err != nil {
			t.Fatal(err)
		}
		r, err := abuse.New(abuse.Config{
			Enabled: true, Strikes: 20, Window: time.Minute, Cooldown: 5 * time.Minute,
			MaxCooldown: 24 * time.Hour, MaxEntries: 100, Allow: allow,
		}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		test(t, &Handler{Registry: r, By: func(r *http.Request) string { return r.Header.Get("Operator") }})
	})
}

// ask returns the status and the body.
func ask(t *testing.T, h *Handler, method, target, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Operator", "ann")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	head := w.Header()
	if head.Get("Content-Type") != "application/json; charset=utf-8" || head.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %s: header %v", method, target, head)
	}
	if method == "HEAD" {
		return w.Code, w.Body.String()
	}
	if !json.Valid(w.Body.Bytes()) || head.Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
		t.Errorf("%s %s: %q is not JSON of %s bytes", method, target, w.Body, head.Get("Content-Length"))
	}
	return w.Code, strings.TrimSpace(w.Body.String())
}

// asker returns a function that checks one exchange.
func asker(t *testing.T, h *Handler) func(method, target, body string, status int, want string) {
	return func(method, target, body string, status int, want string) {
		t.Helper()
		if code, got := ask(t, h, method, target, body); code != status || got != want {
			t.Errorf("%s %s %s:\n%d %s\nwant\n%d %s", method, target, body, code, got, status, want)
		}
	}
}

func TestBanListAndLift(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Handler) {
		f := asker(t, h)
		const one = `{"client":"203.0.113.9","until":"2000-01-01T01:30:00Z","remaining_seconds":5400,"offenses":1,"range":false,` +
			`"permanent":false,"since":"2000-01-01T00:00:00Z","cause":"operator","note":"scraper","by":"ann"`
		f("GET", "/", "", 200, `{"tracked":0,"ranges":0,"total":0,"bans":[]}`)
		f("POST", "/", `{"client":"203.0.113.9","duration":"1h30m","note":"scraper"}`, 200, one+`,"exempt_within":[]}`)
		const wide = `{"client":"198.51.0.0/16","until":null,"remaining_seconds":0,"offenses":1,"range":true,` +
			`"permanent":true,"since":"2000-01-01T00:00:00Z","cause":"operator","note":"","by":"ann"`
		f("POST", "/", `{"client":"198.51.3.4/16","permanent":true}`, 200, wide+`,"exempt_within":["198.51.100.0/24"]}`)
		f("GET", "/", "", 200, `{"tracked":1,"ranges":1,"total":2,"bans":[`+wide+`},`+one+`}]}`)
		f("GET", "/?range=false", "", 200, `{"tracked":1,"ranges":1,"total":1,"bans":[`+one+`}]}`)
		f("GET", "/?permanent=true&q=198", "", 200, `{"tracked":1,"ranges":1,"total":1,"bans":[`+wide+`}]}`)
		f("GET", "/?client=198.51.7.7", "", 200, `{"tracked":1,"ranges":1,"total":1,"bans":[`+wide+`}]}`)
		f("GET", "/?offset=1&limit=5", "", 200, `{"tracked":1,"ranges":1,"total":2,"bans":[`+one+`}]}`)
		f("GET", "/?limit=0", "", 200, `{"tracked":1,"ranges":1,"total":2,"bans":[]}`)
		f("GET", "/?offset=3", "", 200, `{"tracked":1,"ranges":1,"total":2,"bans":[]}`)
		f("HEAD", "/", "", 200, "")
		f("DELETE", "/?client=198.51.9.9/16", "", 200, `{"unbanned":"198.51.0.0/16"}`)
		f("DELETE", "/?client=198.51.9.9/16", "", 404, `{"client":"198.51.0.0/16","error":"client not tracked"}`)
		f("DELETE", "/?client=203.0.113.9", "", 200, `{"unbanned":"203.0.113.9"}`)
		f("GET", "/", "", 200, `{"tracked":0,"ranges":0,"total":0,"bans":[]}`)
	})
}

func TestLiftEveryFormOfAn64(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Handler) {
		f := asker(t, h)
		for _, form := range []string{"2001:db8:1:2::/64", url.QueryEscape("2001:db8:1:2::/64"), "2001:db8:1:2::9"} {
			if code, got := ask(t, h, "POST", "/", `{"client":"2001:db8:1:2::1","duration":"1h"}`); code != 200 || !strings.Contains(got, `"client":"2001:db8:1:2::/64"`) {
				t.Fatal(code, got)
			}
			f("DELETE", "/?client="+form, "", 200, `{"unbanned":"2001:db8:1:2::/64"}`)
		}
	})
}

func TestBadRequests(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Handler) {
		f := func(method, target, body string, status int, want string) {
			t.Helper()
			if code, got := ask(t, h, method, target, body); code != status || !strings.Contains(got, want) {
				t.Errorf("%s %s %.60s: %d %s, want %d with %s", method, target, body, code, got, status, want)
			}
		}
		f("DELETE", "/", "", 400, `client \"\": want an address`)
		f("DELETE", "/?client=example.com", "", 400, `want an address`)
		f("DELETE", "/?client=10.0.0.0/7", "", 400, `too broad`)
		f("GET", "/?client=::/0", "", 400, `too broad`)
		f("GET", "/?range=yes", "", 400, `range \"yes\": want true or false`)
		f("GET", "/?permanent=1", "", 400, `want true or false`)
		f("GET", "/?limit=-1", "", 400, `limit \"-1\": want a whole number`)
		f("GET", "/?offset=x", "", 400, `offset \"x\": want a whole number`)
		f("POST", "/", "", 400, `body must be`)
		f("POST", "/", "[]", 400, `body must be`)
		f("POST", "/", `{"client":"203.0.113.9","duration":"1h"}{}`, 400, `something follows`)
		f("POST", "/", `{"client":"203.0.113.9","for":"1h"}`, 400, `unknown field`)
		f("POST", "/", `{"client":"203.0.113.9"}`, 400, `duration \"\": want one such as 30m`)
		f("POST", "/", `{"client":"203.0.113.9","duration":"999ms"}`, 400, `from 1s to 8760h`)
		f("POST", "/", `{"client":"203.0.113.9","duration":"8760h1s"}`, 400, `from 1s to 8760h`)
		f("POST", "/", `{"client":"203.0.113.9","duration":"1h","permanent":true}`, 400, `leave one of them out`)
		f("POST", "/", `{"client":"203.0.113.9","permanent":true,"note":"`+strings.Repeat("x", MaxNote+1)+`"}`, 400, `longer than 500`)
		f("POST", "/", `{"client":"`+strings.Repeat("x", maxBody)+`"}`, 400, `longer than 16384`)
		f("POST", "/", `{"client":"0.0.0.0/0","permanent":true}`, 400, `too broad`)
		f("POST", "/", `{"client":"198.51.100.7","permanent":true}`, 409, `"client":"198.51.100.7"`)
		f("PUT", "/", "", 405, `method not allowed`)
		if n := h.Registry.Stats(time.Now()).BansAll; n != 0 {
			t.Errorf("%d bans were made", n)
		}
	})
}

func TestRegistryOff(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Handler) {
		if err := h.Registry.Apply(abuse.Config{Strikes: 1, Window: 1, Cooldown: 1, MaxCooldown: 1, MaxEntries: 1}, time.Now()); err != nil {
			t.Fatal(err)
		}
		f := asker(t, h)
		for _, method := range Methods() {
			f(method, "/?client=203.0.113.9", "", 404, `{"error":"abuse registry disabled"}`)
		}
	})
}

func TestNobodyIsNamedWithoutBy(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Handler) {
		h.By = nil
		if code, got := ask(t, h, "POST", "/", `{"client":"203.0.113.9","permanent":true}`); code != 200 || !strings.Contains(got, `"by":""`) {
			t.Error(code, got)
		}
	})
}

// TestSaving: an order is not answered with success before it is saved.
func TestSaving(t *testing.T) {
	inBubble(t, func(t *testing.T, h *Handler) {
		saved := 0
		var fail error
		h.Save = func() error { saved++; return fail }
		f := func(method, target, body string, want int) {
			t.Helper()
			if status, got := ask(t, h, method, target, body); status != want || (fail != nil) != strings.Contains(got, "not on disk") {
				t.Errorf("%s %s: %d %s, want %d", method, body, status, got, want)
			}
		}
		f("GET", "/", "", 200)
		f("POST", "/", `{"client":"nonsense","permanent":true}`, 400)
		if saved != 0 {
			t.Errorf("saved %d times, though nothing was ordered", saved)
		}
		f("POST", "/", `{"client":"192.0.2.1","permanent":true}`, 200)
		fail = errors.New("in force, but not on disk")
		f("POST", "/", `{"client":"192.0.2.2","permanent":true}`, 500)
		f("DELETE", "/?client=192.0.2.1", "", 500)
		if saved != 3 {
			t.Errorf("saved %d times, want 3", saved)
		}
	})
}
