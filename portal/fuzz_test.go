package portal

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzRequests: whatever a stranger sends, it is answered, and changes nothing.
func FuzzRequests(f *testing.F) {
	for _, row := range routes() {
		f.Add(row.method, row.path, "page=2&q=x&client=192.0.2.1&id=1", "Cookie", cookieName+"=AAAA", `{"id":"00000000000000ff"}`)
	}
	f.Add("POST", "/login", "", "Content-Type", "application/x-www-form-urlencoded", "pass=x&%zz")
	f.Add("GET", "/assets/../x", "%zz", "Cookie", browserCookie+"=x; "+cookieName+`="x"`, "")
	f.Add("POST", "/api/settings", "dry-run=1", "Authorization", "Bearer x", `{"cap":1}`)
	f.Add("BREW", "//evil", "", "Origin", "null", "")
	r := newRig(f)
	r.queueUp("192.0.2.1")
	f.Fuzz(func(t *testing.T, method, path, query, name, value, body string) {
		if !strings.HasPrefix(path, "/") || http.CanonicalHeaderKey(name) == "Authorization" && strings.Contains(value, adminToken) || strings.Contains(body, operatorPass) || strings.Contains(body, viewerPass) {
			return
		}
		q := &http.Request{
			Method: method, URL: &url.URL{Path: path, RawQuery: query}, RequestURI: path, Host: "127.0.0.1:8081",
			RemoteAddr: operatorAddr + ":999", Header: http.Header{http.CanonicalHeaderKey(name): {value}},
			Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		}
		if body != "" {
			q.Body = httptest.NewRequest("POST", "/", strings.NewReader(body)).Body
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, q.WithContext(t.Context()))
		if w.Code >= 500 || w.Code < 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if len(r.program.edits) > 0 || len(r.undos.latest) > 0 || len(r.sessions.all) > 0 || r.kicked.n.Load() > 0 {
			t.Error("something was changed")
		}
		r.program.acts = nil
		r.lockout.counters = nil
	})
}

// FuzzFind: any text can be looked for.
func FuzzFind(f *testing.F) {
	for _, text := range []string{"192.0.2.1", "192.0.2.0/24", "2001:db8::/32", "00000000000000ff", "ref-00000000000000ff", "", " ", "\x00", "::ffff:1.2.3.4", "1.2.3.4%eth0"} {
		f.Add(text)
	}
	r := newRig(f)
	s := r.signIn(viewerPass)
	r.queueUp("192.0.2.1")
	f.Fuzz(func(t *testing.T, text string) {
		r.tb = t
		for _, target := range []string{"/api/queue/find?q=", "/api/frag/find?q=", "/api/frag/queue?q=", "/api/frag/visitors?q=", "/api/frag/bans?q=", "/api/frag/banlog?q="} {
			if w := s.call("GET", target+url.QueryEscape(text), ""); w.Code != 200 {
				t.Errorf("%s%q: %d %s", target, text, w.Code, w.Body)
			}
		}
	})
}
