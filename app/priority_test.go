package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

// shop is an origin that ranks visitors by the rank query parameter, and holds
// requests for /hold/x until they are freed.
type shop struct {
	pace time.Duration // how long a request takes

	mu     sync.Mutex // guards the fields below
	seen   []string
	freed  map[string]chan struct{}
	inside int
	peak   int // most requests inside at once
}

// Serve implements pipeline.Origin.
func (s *shop) Serve(v *pipeline.Visit) error {
	s.mu.Lock()
	s.seen = append(s.seen, v.R.Method+" "+v.Path.Clean)
	wait := s.waitLocked(v.Path.Clean)
	s.inside++
	s.peak = max(s.peak, s.inside)
	s.mu.Unlock()
	defer s.leave()
	if s.pace > 0 {
		<-time.After(s.pace)
	}
	if strings.HasPrefix(v.Path.Clean, "/hold") {
		select {
		case <-wait:
		case <-v.R.Context().Done():
			return &pipeline.Refusal{Reason: pipeline.ClientGone}
		}
	}
	h := v.W.Header()
	if rank := v.R.URL.Query().Get("rank"); rank != "" {
		h.Set("Concert-Priority", rank)
	}
	v.EditResponse(http.StatusOK, h)
	v.W.WriteHeader(http.StatusOK)
	return nil
}

func (s *shop) waitLocked(path string) chan struct{} {
	if s.freed[path] == nil {
		s.freed[path] = make(chan struct{})
	}
	return s.freed[path]
}

func (s *shop) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside--
}

func (s *shop) peakOf() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

func (s *shop) free(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.waitLocked(path))
}

// saw counts the requests that reached the origin.
func (s *shop) saw(request string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.seen {
		if r == request {
			n++
		}
	}
	return n
}

// street is a shop behind a Concert with a server.
type street struct {
	t      *testing.T
	app    *App
	shop   *shop
	server *httptest.Server
}

func newStreet(t *testing.T, flags ...string) *street {
	t.Helper()
	loaded, err := config.Load(append([]string{"-cap", "1", "-priority-cap", "1", "-door-wait", "0"}, flags...),
		[]string{"CONCERT_ADMIN_TOKEN=the-right-token"})
	if err != nil {
		t.Fatal(err)
	}
	s := &street{t: t, shop: &shop{freed: map[string]chan struct{}{}}}
	if s.app, err = New(loaded.Config, Options{Origin: s.shop}); err != nil {
		t.Fatal(err)
	}
	s.server = httptest.NewServer(s.app.Handler())
	t.Cleanup(s.server.Close)
	return s
}

// ask sends a request with cookies and returns the answer and all cookies.
func (s *street) ask(method, path, cookies string, body ...string) (*httptest.ResponseRecorder, string) {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(strings.Join(body, "")))
	r.Header.Set("Accept", "text/html")
	if cookies != "" {
		r.Header.Set("Cookie", cookies)
	}
	if strings.HasPrefix(path, "/_room/") {
		r.Header.Set("Authorization", "Bearer the-right-token")
	}
	w := httptest.NewRecorder()
	s.app.Handler().ServeHTTP(w, r)
	jar := map[string]string{}
	for _, c := range w.Result().Cookies() {
		jar[c.Name] = c.Value
	}
	for _, pair := range strings.Split(cookies, "; ") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			if _, renewed := jar[name]; !renewed {
				jar[name] = value
			}
		}
	}
	var all []string
	for name, value := range jar {
		if value != "" {
			all = append(all, name+"="+value)
		}
	}
	return w, strings.Join(all, "; ")
}

// hold has a request with cookies hold a slot, and returns what ends it.
func (s *street) hold(path, cookies string) (free func()) {
	s.t.Helper()
	done := make(chan struct{})
	go func() { // ends when it is freed
		defer close(done)
		s.ask("GET", path, cookies)
	}()
	rawtest.Until(s.t, path+" reaches the origin", func() bool { return s.shop.saw("GET "+path) > 0 })
	return func() {
		s.shop.free(path)
		<-done
	}
}

// A ranked visitor and a form go past a full room; what waits for the lane and
// leaves never reaches the origin, over a real connection.
func TestPriorityEndToEnd(t *testing.T) {
	s := newStreet(t)
	w, staff := s.ask("GET", "/?rank=staff", "")
	if w.Header().Get("Concert-Priority") != "" || !strings.Contains(staff, "concert_priority=") {
		t.Fatalf("granted with %v", w.Header())
	}
	_, guest := s.ask("GET", "/", "")
	freePage := s.hold("/hold/page", "")
	if w, _ := s.ask("GET", "/page", guest); !strings.Contains(w.Body.String(), `id="position"`) {
		t.Errorf("a guest gets status %d instead of the waiting page", w.Code)
	}
	if s.ask("GET", "/page", staff); s.shop.saw("GET /page") != 1 {
		t.Error("staff waits")
	}
	if s.ask("POST", "/form", guest); s.shop.saw("POST /form") != 1 {
		t.Error("a form of somebody who was admitted waits")
	}
	freeLane := s.hold("/hold/lane", staff)
	c := rawtest.Dial(t, s.server.Listener.Addr().String())
	c.Send("POST /gone HTTP/1.1\r\nHost: x\r\nCookie: " + guest + "\r\nContent-Length: 4\r\n\r\nbody")
	rawtest.Until(t, "the form waits in the lane", func() bool { return s.app.stages.priority.Stats().LaneWaiting == 1 })
	c.Close()
	rawtest.Until(t, "its leaving is noticed", func() bool { return s.app.stages.priority.Stats().LaneWaiting == 0 })
	freeLane()
	freePage()
	w, _ = s.ask("GET", "/_room/stats", "")
	var stats map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &stats); err != nil || stats["priority_lane_cap"] != 1.0 || stats["priority_grants_total"] != 1.0 || stats["priority_forms_total"] != 2.0 {
		t.Errorf("stats: %v, %v", stats, err)
	}
	if w, _ := s.ask("GET", "/_room/metrics", ""); !strings.Contains(w.Body.String(), "concert_priority_requests_total{rank=\"staff\"} 2\n") {
		t.Error("the metrics do not count staff's requests")
	}
	if s.shop.saw("POST /gone") != 0 {
		t.Error("a form whose sender left reached the origin")
	}
}

// The way of a sale: price, payment, front, pass, and the front again.
func TestSkippingTheLineEndToEnd(t *testing.T) {
	s := newStreet(t, "-rate", "2", "-skip-url", "/pay", "-pass", "1h")
	free := s.hold("/hold/page", "")
	_, first := s.ask("GET", "/", "")
	w, mine := s.ask("GET", "/", "")
	_, after, found := strings.Cut(w.Body.String(), `href="/pay?ref=`)
	ref, _, _ := strings.Cut(after, `"`)
	if !found || ref == "" {
		t.Fatal("the waiting page does not link to the payment")
	}
	w, _ = s.ask("GET", "/queue/status", mine)
	if !strings.Contains(w.Body.String(), `"skip_cost":2,"rate_per_pos":2`) {
		t.Errorf("status: %s", w.Body)
	}
	w, _ = s.ask("GET", "/_room/quote?ref="+url.QueryEscape(ref), "")
	if !strings.Contains(w.Body.String(), `"skip_cost":2`) {
		t.Errorf("quote: status %d, %s", w.Code, w.Body)
	}
	w, _ = s.ask("POST", "/_room/promote", "", fmt.Sprintf(`{"ref":%q,"payment":"pay_1"}`, ref))
	var promoted struct {
		Position int `json:"position"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &promoted); err != nil || w.Code != 200 || promoted.Position != 1 {
		t.Fatalf("promoted: status %d, %s, %v", w.Code, w.Body, err)
	}
	if w, _ := s.ask("GET", "/", first); w.Header().Get("Concert-Queue")[:10] != "position=2" {
		t.Errorf("whoever was first is told %q", w.Header().Get("Concert-Queue"))
	}
	_, mine = s.ask("GET", "/", mine)
	if !strings.Contains(mine, "room_pass=") {
		t.Fatalf("no pass is delivered: %s", mine)
	}
	free()
	if w, mine = s.ask("GET", "/mine", mine); w.Code != 200 || s.shop.saw("GET /mine") != 1 {
		t.Fatalf("the paid visitor is not let in: %d", w.Code)
	}
	free = s.hold("/hold/again", first)
	defer free()
	_, other := s.ask("GET", "/", "")
	if w, _ := s.ask("GET", "/again", mine); w.Header().Get("Concert-Queue")[:10] != "position=1" {
		t.Errorf("with a pass, told %q", w.Header().Get("Concert-Queue"))
	}
	if w, _ := s.ask("GET", "/", other); w.Header().Get("Concert-Queue")[:10] != "position=2" {
		t.Errorf("without one, told %q", w.Header().Get("Concert-Queue"))
	}
}

// Settings of priority are live, and derived from a changed cap.
func TestPriorityFollowsTheConfiguration(t *testing.T) {
	s := newStreet(t, "-priority-cap", "0", "-rank-order")
	if got := s.app.line.Stats(time.Now()).Settings.RankLead; got != headStart {
		t.Errorf("-rank-order gives a head start of %d", got)
	}
	c := *s.app.cfg.Load()
	c.Cap, c.RankOrder = 80, false
	if err := s.app.Reconfigure(context.Background(), &c); err != nil {
		t.Fatal(err)
	}
	if got := s.app.line.Stats(time.Now()).Settings.RankLead; got != 0 {
		t.Errorf("switched off, -rank-order gives a head start of %d", got)
	}
	if got := s.app.stages.priority.Stats().LaneCap; got != 20 {
		t.Errorf("with a cap of 80 the lane has %d slots", got)
	}
}
