package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	get := func(path string, header ...string) reply {
		req := httptest.NewRequest("GET", path, nil)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		p := reply{httptest.NewRecorder(), nil}
		r.public.ServeHTTP(p, req)
		return p
	}
	p := get("/?room=demo&return=%2Fproducts%2F42%3Fa%3D%22")
	for _, want := range []string{`data-room="demo"`, `data-return="/products/42?a=&quot;"`, "You are in line"} {
		if !strings.Contains(p.Body.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if p.Code != 200 || !strings.Contains(p.Header().Get("Content-Security-Policy"), "script-src 'sha256-") || p.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", p.Code, p.Header())
	}
	if p := get("/?room=demo&return=//evil.example/"); strings.Contains(p.Body.String(), "evil") {
		t.Error("the page knows a foreign address")
	}
	if p := get("/?room=demo", "Accept-Language", "fr"); p.Header().Get("Content-Language") != "fr" {
		t.Errorf("language %s", p.Header().Get("Content-Language"))
	}
	if p := get("/?room=demo&lang=de", "Accept-Language", "fr", "Accept-Encoding", "gzip"); p.Header().Get("Content-Language") != "de" || p.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", p.Header())
	}
	for _, path := range []string{"/", "/?room=", "/?room=nowhere", "/?room=%3Cscript%3E"} {
		if p := get(path); p.Code != 404 || strings.Contains(p.Body.String(), "script>") || !strings.Contains(p.Body.String(), "nothing at this address") {
			t.Errorf("%s: %d %s", path, p.Code, p.Body)
		}
	}
	r.admin(200, "PATCH", "/rooms/demo", `{"target_url":""}`)
	if p := get("/?room=demo"); p.Code != 404 {
		t.Errorf("a page with nowhere to go: %d", p.Code)
	}
	if p := r.ask(200, "POST", "/api/v1/queue/token", r.join().text("queue_token"), ""); p.json["redirect_url"] != nil {
		t.Errorf("%s", p.Body)
	}
}

func TestMessagesForVisitors(t *testing.T) {
	r := newRig(t, Limits{})
	r.demo()
	r.admin(201, "POST", "/rooms/demo/messages", `{"text":"Sold out in S | de=S ist ausverkauft","level":"warning"}`)
	r.admin(201, "POST", "/rooms/demo/messages", `{"text":"hidden","enabled":false}`)
	p := r.ask(200, "GET", "/api/v1/queue/messages?room=demo", "", "")
	if !strings.Contains(p.Body.String(), `{"messages":[{"id":"1","text":"Sold out in S","level":"warning"}]}`) || !strings.Contains(p.Header().Get("Cache-Control"), "public") {
		t.Errorf("%s %v", p.Body, p.Header())
	}
	if p := r.ask(200, "GET", "/api/v1/queue/messages?room=demo&lang=de", "", ""); !strings.Contains(p.Body.String(), "S ist ausverkauft") {
		t.Errorf("%s", p.Body)
	}
	r.ask(404, "GET", "/api/v1/queue/messages?room=nowhere", "", "")
}
