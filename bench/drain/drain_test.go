package drain

import (
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
	"github.com/andreimerlescu/concert/internal/parts"
)

// arrivals makes admitted visitors that arrived in the order of the numbers
// given by the origin.
func arrivals(seqs ...int64) []crowd.Result {
	var in []crowd.Result
	for i, seq := range seqs {
		in = append(in, crowd.Result{Outcome: crowd.Admitted, Seq: seq, Sent: time.Unix(int64(i), 0)})
	}
	return in
}

func TestInverted(t *testing.T) {
	tests := []struct {
		seqs []int64
		want float64
	}{
		{nil, 0},
		{[]int64{9}, 0},
		{[]int64{1, 2, 3, 4}, 0},
		{[]int64{10, 30, 20}, 1. / 3},
		{[]int64{4, 3, 2, 1}, 1},
		{[]int64{2, 1, 4, 3}, 2. / 6},
	}
	for _, tt := range tests {
		in := arrivals(tt.seqs...)
		slices.Reverse(in) // the order of the slice must not matter
		if got := inverted(in); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("inverted(%v) = %v, want %v", tt.seqs, got, tt.want)
		}
	}
}

func TestSummarise(t *testing.T) {
	s := Scenario{Name: "x", Latency: time.Second, Cap: 2, Want: 0.9}
	began := time.Unix(100, 0)
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	r := summarise(s, []crowd.Result{
		{Outcome: crowd.Admitted, Seq: 1, Arrived: at(0), Sent: at(0), Done: at(1)},
		{Outcome: crowd.Admitted, Seq: 3, Arrived: at(1), Sent: at(1), Done: at(4), Queued: true, Polls: 2, Reloads: 1, Rises: 1},
		{Outcome: crowd.Admitted, Seq: 2, Arrived: at(2), Sent: at(2), Done: at(3), Queued: true, Polls: 1, Reloads: 2, Bounced: 1},
		{Outcome: crowd.Left, Queued: true},
		{Outcome: crowd.Failed, Err: errors.New("reset")},
		{Outcome: crowd.Unfinished, Queued: true},
	}, began, site.Stats{Peak: 3})
	want := Report{
		Scenario: s, Arrived: 6, Admitted: 3, Queued: 4, Left: 1, Unfinished: 1, Failed: 1, LastError: "reset",
		DrainSeconds: 4, Utilisation: 3. / 2 / 4, Peak: 3, InvertedPairs: 1. / 3,
		WaitP50: 1, WaitMax: 3, Polls: 3, Reloads: 3, Bounced: 1, Rises: 1,
	}
	if *r != want {
		t.Errorf("report\n%+v, want\n%+v", *r, want)
	}
	if b := r.Broken(); len(b) != 2 {
		t.Errorf("broken %q, want the cap and two lost visitors", b)
	}
	if m := r.Missed(); len(m) != 2 {
		t.Errorf("missed %q, want utilisation and order", m)
	}
	if n := strings.Count(r.String(), "NOT MET"); n != 4 {
		t.Errorf("the text names %d unmet demands, want 4:\n%s", n, r)
	}
}

func TestPresets(t *testing.T) {
	for _, s := range Presets() {
		if err := s.Check(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if got, err := Preset(s.Name); err != nil || got != s {
			t.Errorf("Preset(%q) = %+v, %v", s.Name, got, err)
		}
	}
	if _, err := Preset("Z"); err == nil {
		t.Error("there is a preset Z")
	}
	if err := (Scenario{Abandon: 1, Poll: 1, Arrival: -1}).Check(); strings.Count(err.Error(), "want") != 7 {
		t.Errorf("problems of an impossible scenario: %v", err)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:80/": true, "http://[::1]:80": true, "http://localhost/": true,
		"http://192.0.2.1/": false, "http://site.example/": false, "http://127.0.0.1.site.example/": false, "http://:80": false,
	} {
		if err := loopback(address); (err == nil) != want {
			t.Errorf("loopback(%q): %v", address, err)
		}
	}
}

// TestRun drives a small crowd through a front that lets everyone in.
func TestRun(t *testing.T) {
	origin := parts.Address(t)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resp, err := http.Get("http://" + origin + r.URL.Path)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set(crowd.SeqHeader, resp.Header.Get(crowd.SeqHeader))
	}))
	defer front.Close()
	s := Scenario{Visitors: 20, Latency: 5 * time.Millisecond, Cap: 20, Timeout: 20 * time.Second}
	r, err := Run(t.Context(), s, Target{URL: front.URL + "/", Origin: origin})
	if err != nil {
		t.Fatal(err)
	}
	if r.Admitted != 20 || r.Peak < 1 || len(r.Broken()) > 0 {
		t.Errorf("report %+v", r)
	}
}
