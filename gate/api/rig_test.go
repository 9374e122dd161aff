package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/gate/memory"
	"github.com/andreimerlescu/concert/gate/token"
)

const adminToken = "an-admin-token-of-the-tests"

// rig is both handlers over one store, at a time of the test's own.
type rig struct {
	*testing.T
	now       time.Time
	public    *Public
	operators *Operators
}

func newRig(t *testing.T, limits Limits) *rig {
	t.Helper()
	r := &rig{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	store, err := memory.New(memory.Options{Start: r.now})
	if err != nil {
		t.Fatal(err)
	}
	f, err := token.NewFile(r.now)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.NewRing(f)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Store: store, Ring: ring, Resolver: clientip.NewResolver(nil), Limits: limits, Token: adminToken, Now: func() time.Time { return r.now }}
	if r.public, err = NewPublic(c); err != nil {
		t.Fatal(err)
	}
	r.operators = NewOperators(c)
	return r
}

// reply is an answer with its JSON.
type reply struct {
	*httptest.ResponseRecorder
	json map[string]any
}

func (p reply) text(key string) string {
	s, _ := p.json[key].(string)
	return s
}

func (r *rig) send(h http.Handler, method, path, bearer, body string) reply {
	r.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	p := reply{httptest.NewRecorder(), nil}
	h.ServeHTTP(p.ResponseRecorder, req)
	if strings.HasPrefix(p.Header().Get("Content-Type"), "application/json") {
		if err := json.NewDecoder(bytes.NewReader(p.Body.Bytes())).Decode(&p.json); err != nil {
			r.Fatalf("%s %s: %v in %s", method, path, err, p.Body)
		}
	}
	return p
}

// ask sends a visitor's request and wants a status.
func (r *rig) ask(want int, method, path, bearer, body string) reply {
	r.Helper()
	p := r.send(r.public, method, path, bearer, body)
	if p.Code != want {
		r.Errorf("%s %s: %d, want %d: %s", method, path, p.Code, want, p.Body)
	}
	return p
}

// admin sends an operator's request and wants a status.
func (r *rig) admin(want int, method, path, body string) reply {
	r.Helper()
	p := r.send(r.operators, method, "/api/v1/admin"+path, adminToken, body)
	if p.Code != want {
		r.Errorf("%s %s: %d, want %d: %s", method, path, p.Code, want, p.Body)
	}
	return p
}

// demo makes a room that lets one in every ten seconds.
func (r *rig) demo() {
	r.Helper()
	r.admin(201, "POST", "/rooms", `{"id":"demo","inflow":1,"interval_sec":10,"burst":1,"audience":"shop","target_url":"https://shop.example/start?a=1"}`)
}

func (r *rig) join() reply {
	r.Helper()
	return r.ask(200, "POST", "/api/v1/queue/join", "", `{"room":"demo"}`)
}

// access is the token of somebody who was let in.
func (r *rig) access() (raw string) {
	r.Helper()
	return r.ask(200, "POST", "/api/v1/queue/token", r.join().text("queue_token"), "").text("access_token")
}
