package protect

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/api"
	"github.com/andreimerlescu/concert/gate/memory"
	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/persist"
)

// rig is a waiting room and a site behind a guard. The guard's requests to the
// room go to its handler, without a socket.
type rig struct {
	*testing.T
	now   time.Time
	room  *api.Public
	store gate.Store
	down  bool // the waiting room does not answer
	asked int  // requests for keys
	guard *Guard
	site  http.Handler
}

// RoundTrip implements http.RoundTripper.
func (r *rig) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.down {
		return nil, io.ErrUnexpectedEOF
	}
	if strings.HasSuffix(req.URL.Path, "jwks.json") {
		r.asked++
	}
	w := httptest.NewRecorder()
	in := httptest.NewRequest(req.Method, req.URL.Path, req.Body)
	in.Header = req.Header
	r.room.ServeHTTP(w, in)
	return w.Result(), nil
}

func newRig(t *testing.T, change func(*Options)) *rig {
	t.Helper()
	r := &rig{T: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return r.now }
	store, err := memory.New(memory.Options{Start: r.now})
	if err != nil {
		t.Fatal(err)
	}
	r.store = store
	for _, id := range []string{"demo", "other"} {
		room := gate.DefaultRoom()
		room.ID, room.TargetURL, room.Audience = id, "https://site.example/", "shop"
		if _, err := store.Create(t.Context(), r.now, persist.By{}, room); err != nil {
			t.Fatal(err)
		}
	}
	if r.room, err = api.NewPublic(api.Config{Store: store, Ring: newRing(t, r.now), Resolver: clientip.NewResolver(nil), Now: clock}); err != nil {
		t.Fatal(err)
	}
	o := Options{WaitingRoomURL: "https://wait.example/", Room: "demo", Audience: "shop", Now: clock, Client: &http.Client{Transport: r}}
	if change != nil {
		change(&o)
	}
	if r.guard, err = New(o); err != nil {
		t.Fatal(err)
	}
	r.site = r.guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		v, known := From(req)
		fmt.Fprintf(w, "site %s ticket %d %v", req.URL.RequestURI(), v.Ticket, known)
	}))
	return r
}

func newRing(t *testing.T, now time.Time) *token.Ring {
	t.Helper()
	f, err := token.NewFile(now)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.NewRing(f)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// access joins a room and returns the access token of it.
func (r *rig) access(room string) string {
	r.Helper()
	st, err := r.store.Join(context.Background(), r.now, room)
	if err != nil {
		r.Fatal(err)
	}
	g, err := r.store.Exchange(context.Background(), r.now, room, st.Ticket)
	if err != nil {
		r.Fatal(err)
	}
	raw, err := r.room.Ring.Access(g, r.now)
	if err != nil {
		r.Fatal(err)
	}
	return raw
}

// ask sends a request; headers come in pairs.
func (r *rig) ask(method, path string, header ...string) *http.Response {
	r.Helper()
	req := httptest.NewRequest(method, "https://site.example/", nil)
	var err error
	if req.URL, err = url.ParseRequestURI(path); err != nil {
		r.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.site.ServeHTTP(w, req)
	return w.Result()
}

func (r *rig) want(resp *http.Response, status int, location string) {
	r.Helper()
	if got := resp.Header.Get("Location"); resp.StatusCode != status || got != location {
		body, _ := io.ReadAll(resp.Body)
		r.Errorf("%d to %q, want %d to %q: %s", resp.StatusCode, got, status, location, body)
	}
}

func (r *rig) wantSite(resp *http.Response, text string) {
	r.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || string(body) != "site "+text {
		r.Errorf("%d %s, want the site with %q", resp.StatusCode, body, text)
	}
}

// session is the Cookie header after an entry.
func session(resp *http.Response) string {
	var pairs []string
	for _, c := range resp.Cookies() {
		pairs = append(pairs, c.Name+"="+c.Value)
	}
	return strings.Join(pairs, "; ")
}
