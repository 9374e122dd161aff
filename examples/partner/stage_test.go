package main

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
)

// TestPartnersGoPastAFullRoom runs the embedded Concert with its only slot
// taken.
func TestPartnersGoPastAFullRoom(t *testing.T) {
	arrived, leave := make(chan struct{}), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(arrived)
			<-leave
		}
		w.Header().Set("Leaked", r.Header.Get(signatureHeader))
	}))
	defer origin.Close()
	loaded, err := config.Load([]string{"-upstream", origin.URL, "-cap", "1", "-door-wait", "0s"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := []byte("a key that partners and we share")
	a, err := newApp(loaded.Config, key)
	if err != nil {
		t.Fatal(err)
	}
	concert := httptest.NewServer(a.Handler())
	defer concert.Close()
	defer close(leave)

	go http.Get(concert.URL + "/slow") // ends when the origin is told to leave
	<-arrived
	now := time.Now()
	f := func(want int, signature string) {
		t.Helper()
		req, _ := http.NewRequest("GET", concert.URL+"/page", nil)
		req.Header.Set(signatureHeader, signature)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || resp.Header.Get("Leaked") != "" {
			t.Errorf("%q: status %d, want %d; the origin saw %q", signature, resp.StatusCode, want, resp.Header.Get("Leaked"))
		}
	}
	f(http.StatusTooManyRequests, "")
	f(http.StatusTooManyRequests, "nonsense")
	f(http.StatusOK, header(key, now, "/page"))
	f(http.StatusTooManyRequests, header(key, now, "/other"))
	f(http.StatusTooManyRequests, header(key, now.Add(-5*time.Minute), "/page"))
	f(http.StatusTooManyRequests, header([]byte("another key"), now, "/page"))
}

func header(key []byte, at time.Time, path string) string {
	minute := strconv.FormatInt(at.Unix()/60, 10)
	return minute + "." + hex.EncodeToString(sign(key, minute, path))
}

func TestRefusalsSpeakInTheProgramsWords(t *testing.T) {
	loaded, err := config.Load([]string{"-upstream", "http://127.0.0.1:9", "-room", "closed"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newApp(loaded.Config, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "text/html")
	a.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "<h1>The doors open at ten</h1>") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}
