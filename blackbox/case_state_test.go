package blackbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestRefusedCapsAreNotSaved: what is not accepted leaves no trace.
func TestRefusedCapsAreNotSaved(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "4")
	if status := setCap(t, p, `{"cap":7}`); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	before := read(t, dir, "settings.json")
	for _, body := range []string{`{"cap":0}`, `{"cap":-1}`, `{"cap":1e12}`, `{"cap":2147483648}`, `{"cap":"5"}`, `{"cap":null}`, `{}`, `[5]`, `cap=5`, ``, strings.Repeat(" ", 1<<20)} {
		if status := setCap(t, p, body); status < 400 || status > 499 {
			t.Errorf("%.20q: status %d, want 4xx", body, status)
		}
	}
	if got := stats(t, p).Cap; got != 7 || read(t, dir, "settings.json") != before {
		t.Errorf("cap %d, settings.json %q; want 7 and as before", got, read(t, dir, "settings.json"))
	}
}

// TestWhatTheHistoryHolds: one line for each request, whatever is in it, and
// departures are not failures of the origin. A poll of somebody who is banned is
// answered 200 and was blocked all the same.
func TestWhatTheHistoryHolds(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "20", "-ban-paths", "/.env")
	for _, path := range []string{"/%0d%0aFAKE%20127.0.0.1", "/%1b[31m", "/\xc3\xa9", "/.env?a=\"b", "/banned", "/queue/status"} {
		raw(t, p, trusted, "GET "+path+" HTTP/1.1", "Host: site.test", asClient("203.0.113.9"), "User-Agent: a\t\"b\" <script>\u0085", "Referer: \"><img>")
	}
	var leavers []*rawtest.Client
	for range 5 {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET /hold/left HTTP/1.1\r\nHost: site.test\r\n" + asClient("203.0.113.10") + "\r\n\r\n")
		leavers = append(leavers, c)
	}
	rawtest.Until(t, "they are at the origin", func() bool { return countLines(o, "GET /hold/left HTTP/1.1") == 5 })
	for _, c := range leavers {
		c.Reset()
	}
	o.openAll() // a visit is over when the origin is done with it
	idle(t, p)
	stop(t, p)
	text := read(t, dir, "history.jsonl")
	if strings.ContainsAny(strings.ReplaceAll(text, "\n", ""), "\x00\x1b\r\t\x7f") {
		t.Errorf("control characters in %q", text)
	}
	requests, left := 0, 0
	for line := range strings.Lines(text) {
		var e struct {
			T      string `json:"t"`
			IP     string `json:"ip"`
			Path   string `json:"path"`
			Status int    `json:"status"`
			Ban    uint64 `json:"ban"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || !strings.HasSuffix(line, "\n") {
			t.Errorf("%q: %v", line, err)
		}
		switch {
		case e.T == "req" && e.IP == "203.0.113.9":
			requests++
			if e.Path == "/queue/status" && (e.Status != 200 || e.Ban == 0) {
				t.Errorf("the poll of a banned client is recorded as %s", line)
			}
		case e.T == "req" && e.Path == "/hold/left":
			left++
			if e.Status >= 500 || e.Status == 404 {
				t.Errorf("a client that left is recorded with status %d", e.Status)
			}
		}
	}
	if requests != 6 || left != 5 {
		t.Errorf("%d requests of one client and %d departures, want 6 and 5:\n%s", requests, left, text)
	}
}
