package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
)

// instant is an origin that answers at once.
type instant struct{}

func (instant) Serve(v *pipeline.Visit) error {
	v.EditResponse(http.StatusOK, v.W.Header())
	v.W.WriteHeader(http.StatusOK)
	return nil
}

func newApp(t *testing.T, flags ...string) *App {
	t.Helper()
	flags = append([]string{"-data-dir="}, flags...)
	loaded, err := config.Load(flags, []string{"CONCERT_ADMIN_TOKEN=the-right-token"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(loaded.Config, Options{Origin: instant{}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ask(a *App, method, path, body, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return w
}

// TestStatsHaveEveryNamedField: dashboards are built on these names.
func TestStatsHaveEveryNamedField(t *testing.T) {
	w := ask(newApp(t, "-upstream", "http://127.0.0.1:3000"), "GET", "/_room/stats", "", "")
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(`upstream cap occupancy queue_depth live_queue_depth max_queue_depth utilization
		token_ttl first_poll_grace queued_total evicted_total timeouts_total promoted_total removed_total
		asset_cap asset_in_flight asset_users asset_user_cap_h1 asset_user_cap_h2 asset_served_total asset_denied_total
		asset_user_throttled_total asset_global_throttled_total
		stream_cap stream_active stream_served_total stream_denied_total stream_throttled_total stages
		abuse_enabled abuse_tracked abuse_range_bans abuse_strikes_total abuse_bans_total abuse_rejected_total abuse_dropped_total`) {
		if _, ok := got[name]; !ok {
			t.Errorf("stats lack %q", name)
		}
	}
	if got["token_ttl"] != "5m0s" || got["cap"] != 434.0 || got["asset_cap"] != 55552.0 {
		t.Errorf("token_ttl %v, cap %v, asset_cap %v", got["token_ttl"], got["cap"], got["asset_cap"])
	}
}

func TestStatsShowTheStagesInOrder(t *testing.T) {
	var names []string
	for _, s := range newApp(t).Stats().Stages {
		names = append(names, s.Name)
	}
	got := " " + strings.Join(names, " ") + " "
	for _, pair := range []string{" classify operations ", " queue assets stream "} {
		if !strings.Contains(got, pair) {
			t.Errorf("stages are%q; want%q in it", got, pair)
		}
	}
}

func TestCapCanBeChanged(t *testing.T) {
	a := newApp(t, "-cap", "4", "-asset-user-cap-h2", "10")
	if w := ask(a, "POST", "/_room/cap", `{"cap":80}`, "the-right-token"); w.Code != 200 || w.Body.String() != `{"cap":80,"occupancy":0}`+"\n" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if s := a.Stats(); s.Cap != 80 || s.AssetCap != 800 {
		t.Errorf("cap %d, derived asset cap %d; want 80 and 800", s.Cap, s.AssetCap)
	}
}

func TestBadCapsChangeNothing(t *testing.T) {
	a := newApp(t, "-cap", "4")
	f := func(body string, words ...string) {
		t.Helper()
		w := ask(a, "POST", "/_room/cap", body, "the-right-token")
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", body, w.Code)
		}
		for _, word := range words {
			if !strings.Contains(w.Body.String(), word) {
				t.Errorf("%s: %s does not say %q", body, w.Body, word)
			}
		}
	}
	f(`{"cap":0}`, "cap", "from 1 to 2147483647")
	f(`{"cap":-1}`, "cap")
	f(`{"cap":1e12}`, "cap")
	f(`{"cap":"5"}`, "cap")
	f(`{"cap":5.5}`, "cap")
	f(`{"cap":5,"kap":6}`, "kap")
	f(`{"cap":5}{"cap":6}`, "nothing behind it")
	f(`{}`, "cap is missing")
	f(`cap=5`, "whole number")
	f(``, "whole number")
	if got := a.Stats().Cap; got != 4 {
		t.Errorf("cap is now %d", got)
	}
}

func TestEveryMetricIsScraped(t *testing.T) {
	a := newApp(t, "-tls-domains=site.test", "-tls-cache="+t.TempDir(), "-gate-listen=127.0.0.1:0", "-rooms", checkoutRoom) // names give some metrics their label
	room := gate.DefaultRoom()
	room.ID = "demo"
	if _, err := a.gate.store.Create(t.Context(), time.Now(), persist.By{}, room); err != nil {
		t.Fatal(err)
	}
	body := ask(a, "GET", "/_room/metrics", "", "").Body.String()
	for _, r := range a.metricRows() {
		if !strings.Contains(body, "\nconcert_"+r.Name+" ") {
			t.Errorf("the scrape lacks concert_%s", r.Name)
		}
	}
	for _, l := range a.metricFamilies() {
		if !strings.Contains(body, "# HELP concert_"+l.Name+" ") {
			t.Errorf("the scrape lacks concert_%s", l.Name)
		}
	}
}

func TestReadinessEndsWithTheDrain(t *testing.T) {
	a := newApp(t)
	if w := ask(a, "GET", "/_room/readyz", "", ""); w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	a.draining.Store(true)
	if w := ask(a, "GET", "/_room/readyz", "", ""); w.Code != http.StatusServiceUnavailable {
		t.Fatalf("while draining: status %d", w.Code)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	newApp(t).Run(ctx) // returns
}

// TestBansHoldForRooms: whoever is banned from the site cannot wait beside it.
func TestBansHoldForRooms(t *testing.T) {
	a := newApp(t, "-gate-listen=127.0.0.1:0")
	join := func() int {
		w := httptest.NewRecorder()
		a.gate.public.ServeHTTP(w, httptest.NewRequest("POST", "/api/v1/queue/join?room=nowhere", nil))
		return w.Code
	}
	if got := join(); got != http.StatusNotFound {
		t.Errorf("before: %d", got)
	}
	if w := ask(a, "POST", "/_room/abuse", `{"client":"192.0.2.1","permanent":true}`, "the-right-token"); w.Code != http.StatusOK {
		t.Fatalf("ban: %d %s", w.Code, w.Body)
	}
	if got := join(); got != http.StatusForbidden {
		t.Errorf("banned: %d", got)
	}
}
