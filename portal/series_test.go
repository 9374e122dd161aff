package portal

import (
	"context"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func TestSeries(t *testing.T) {
	r := newRig(t)
	now := time.Now()
	r.sample(now)
	r.queueUp("192.0.2.1")
	for range 10 {
		r.Requests.Wait.Observe(55 * time.Millisecond)
	}
	now = now.Add(sampleEvery)
	r.sample(now)
	v := r.series.since(0)
	last := len(v.At) - 1
	if last != 1 || v.StepMS != 5000 || v.InFlight[1] != 1 || v.Cap[1] != 1 || v.Waiting[1] != 1 || v.Admissions[1] != 0.2 {
		t.Errorf("series %+v", v)
	}
	if v.WaitP50[0] != -1 || v.WaitP50[1] < 10 || v.WaitP50[1] > 100 || v.OriginP50[1] != -1 {
		t.Errorf("percentiles %v %v", v.WaitP50, v.OriginP50)
	}
	if len(v.Refused) != 0 {
		t.Errorf("refusals of before the first measurement: %v", v.Refused)
	}
	if again := r.series.since(v.At[1] - 1); len(again.At) != 1 || again.At[0] != v.At[1] {
		t.Errorf("since: %v", again.At)
	}
}

// TestSeriesAreOfOneHour, all of the same length.
func TestSeriesAreOfOneHour(t *testing.T) {
	r := newRig(t)
	now := time.Now()
	for range samples + 7 {
		r.sample(now)
		now = now.Add(sampleEvery)
	}
	v := r.series.since(0)
	for name, n := range map[string]int{
		"at": len(v.At), "in flight": len(v.InFlight), "cap": len(v.Cap), "waiting": len(v.Waiting), "admissions": len(v.Admissions),
		"p50": len(v.WaitP50), "p95": len(v.WaitP95), "origin p50": len(v.OriginP50), "origin p95": len(v.OriginP95),
	} {
		if n != samples {
			t.Errorf("%s: %d, want %d", name, n, samples)
		}
	}
	for i := range v.At[1:] {
		if v.At[i+1] <= v.At[i] {
			t.Fatalf("not in the order of time at %d", i)
		}
	}
}

func TestRefusalRates(t *testing.T) {
	now := time.Now()
	var s series
	s.before = moment{at: now, refused: map[string]uint64{"busy": 10}}
	s.pushLocked(point{at: 1, refused: s.ratesLocked(map[string]uint64{"busy": 20}, 5)})
	s.before.refused = map[string]uint64{"busy": 20}
	s.pushLocked(point{at: 2, refused: s.ratesLocked(map[string]uint64{"busy": 20, "line-full": 5}, 5)})
	v := s.since(0)
	if v.Refused["busy"][0] != 2 || v.Refused["busy"][1] != 0 || v.Refused["line-full"][0] != 0 || v.Refused["line-full"][1] != 1 {
		t.Errorf("rates %v", v.Refused)
	}
}

func TestSearchIsBounded(t *testing.T) {
	r := newRig(t)
	ctx, now := context.Background(), time.Now()
	r.queueUp()
	for range 1000 {
		if _, err := r.line.Enter(ctx, now, line.Entry{}); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	done, err := r.search(ctx, now, func(*place) bool { seen++; return true })
	if err != nil || !done.all || seen != 1000 || done.limit() != 0 {
		t.Errorf("%d of 1000, %+v, %v", seen, done, err)
	}
	near := r.Portal.Line
	r.Portal.Line = struct{ line.Line }{near} // as one that is somewhere else
	defer func() { r.Portal.Line = near }()
	if done, err = r.search(ctx, now, func(*place) bool { seen--; return true }); err != nil || !done.all || seen != 0 {
		t.Errorf("a line elsewhere: %d left, %+v, %v", seen, done, err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.search(gone, now, func(*place) bool { return true }); err == nil {
		t.Error("the search goes on for somebody who left")
	}
}
