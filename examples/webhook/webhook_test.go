package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	secret = []byte("whsec_example")
	noon   = time.Unix(1_800_000_000, 0)
)

const paid = `{"type":"payment.succeeded","payment":{"id":"pay_1","reference":"ref-1"}}`

// signature signs body as the provider would.
func signature(key []byte, at time.Time, body string) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(sign(key, stamp, []byte(body)))
}

// concert stands in for Concert: it answers with a status and notes the calls.
type concert struct {
	status int
	calls  []string
}

func (c *concert) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.calls = append(c.calls, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Authorization"), " ", string(body)))
	w.WriteHeader(c.status)
}

func deliver(t *testing.T, c *concert, header, body string) int {
	t.Helper()
	server := httptest.NewServer(c)
	defer server.Close()
	h := &webhook{
		secret: secret, now: func() time.Time { return noon },
		seller: seller{client: server.Client(), concert: server.URL, token: "token"},
		log:    slog.New(slog.DiscardHandler),
	}
	r := httptest.NewRequest("POST", "/paid", strings.NewReader(body))
	r.Header.Set(signatureHeader, header)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func TestPaidTicketsArePromoted(t *testing.T) {
	c := &concert{status: http.StatusOK}
	if got := deliver(t, c, signature(secret, noon, paid), paid); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	want := `POST /_room/promote Bearer token {"payment":"pay_1","ref":"ref-1"}`
	if len(c.calls) != 1 || c.calls[0] != want {
		t.Errorf("called %q, want %q", c.calls, want)
	}
}

func TestUnsignedEventsAreRefused(t *testing.T) {
	good := signature(secret, noon, paid)
	f := func(name, header string, want int) {
		t.Helper()
		c := &concert{status: http.StatusOK}
		got := deliver(t, c, header, paid)
		if got != want || (len(c.calls) > 0) != (want == http.StatusOK) {
			t.Errorf("%s: status %d with %d calls, want %d", name, got, len(c.calls), want)
		}
	}
	f("good", good, 200)
	f("with spaces", strings.ReplaceAll(good, ",", ", "), 200)
	f("with another secret's besides", good[:13]+"v1=00,"+good[13:], 200)
	f("at the edge of patience", signature(secret, noon.Add(-tolerance), paid), 200)
	f("too old", signature(secret, noon.Add(-tolerance-time.Second), paid), 401)
	f("from the future", signature(secret, noon.Add(tolerance+time.Second), paid), 401)
	f("another secret", signature([]byte("x"), noon, paid), 401)
	f("another body", signature(secret, noon, paid+" "), 401)
	f("none", "", 401)
	f("no time", good[13:], 401)
	f("another time", "t=1800000001"+good[12:], 401)
	f("no signature", good[:12], 401)
	f("not hex", good[:13]+"v1=zz", 401)
}

func TestWhatTheProviderIsTold(t *testing.T) {
	f := func(name string, status int, body string, want, wantCalls int) {
		t.Helper()
		c := &concert{status: status}
		if got := deliver(t, c, signature(secret, noon, body), body); got != want || len(c.calls) != wantCalls {
			t.Errorf("%s: status %d after %d calls, want %d after %d", name, got, len(c.calls), want, wantCalls)
		}
	}
	f("promoted", 200, paid, 200, 1)
	f("unknown ticket", 404, paid, 200, 1)
	f("already in", 409, paid, 200, 1)
	f("ended", 410, paid, 200, 1)
	f("wrong token", 401, paid, 503, 1)
	f("Concert is down", 502, paid, 503, 1)
	f("another event", 200, `{"type":"payment.failed","payment":{"id":"p","reference":"r"}}`, 204, 0)
	f("no reference", 200, `{"type":"payment.succeeded","payment":{"id":"p"}}`, 204, 0)
	f("no payment", 200, `{"type":"payment.succeeded"}`, 204, 0)
	f("not JSON", 200, `paid`, 400, 0)
	f("too large", 200, `"`+strings.Repeat("x", maxBody)+`"`, 400, 0)
}

func TestConcertOutOfReach(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	h := &webhook{
		secret: secret, now: func() time.Time { return noon },
		seller: seller{client: http.DefaultClient, concert: server.URL, token: "token"}, log: slog.New(slog.DiscardHandler),
	}
	r := httptest.NewRequest("POST", "/paid", strings.NewReader(paid))
	r.Header.Set(signatureHeader, signature(secret, noon, paid))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", w.Code)
	}
}
