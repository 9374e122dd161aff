package portal

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestLeavingToTheNext: charts, removed visitors and sessions go along, also
// without a data directory.
func TestLeavingToTheNext(t *testing.T) {
	r := newRig(t)
	stays, left := r.signIn(operatorPass), r.signIn(operatorPass)
	left.do("POST", "/logout", "csrf="+left.csrf, withCookie(left.cookie))
	now := time.Now()
	for range samples + 3 {
		r.sample(now)
		now = now.Add(sampleEvery)
	}
	r.series.mu.Lock()
	r.series.before.refused = map[string]uint64{"line-full": 1} // and two more until now
	r.series.mu.Unlock()
	r.sample(now)
	ids := r.queueUp("192.0.2.1")
	stays.want(200, "POST", "/api/queue/kick", `{"id":"`+ids[0]+`"}`)

	text, err := json.Marshal(r.Leave())
	if err != nil {
		t.Fatal(err)
	}
	var l Left
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	next := newRig(t)
	next.inherit(&l, time.Now())
	if got, want := fmt.Sprint(next.series.since(0)), fmt.Sprint(r.series.since(0)); got != want || len(l.Series.At) != samples || l.Series.Refused["line-full"] == nil {
		t.Errorf("charts of %d measurements, %v", len(l.Series.At), l.Series.Refused)
	}
	if !next.Removed(mustID(t, ids[0])) {
		t.Error("a visitor who was removed is forgotten")
	}
	for _, s := range []struct {
		*signed
		in bool
	}{{stays, true}, {left, false}} {
		if _, in := next.sessions.find(s.cookie.Value, time.Now()); in != s.in {
			t.Errorf("signed in %v, want %v", in, s.in)
		}
	}
	before := len(next.series.since(0).At)
	next.sample(now.Add(sampleEvery))
	if v := next.series.since(0); len(v.At) != before || v.Admissions[len(v.At)-1] != 0 {
		t.Errorf("the first measurement of the next: %d, %v admissions", len(v.At), v.Admissions[len(v.At)-1])
	}
}

func TestBrokenChartsAreLeftOut(t *testing.T) {
	r := newRig(t)
	r.sample(time.Now())
	l := r.Leave()
	l.Series.WaitP50 = nil
	next := newRig(t)
	next.inherit(l, time.Now())
	next.inherit(nil, time.Now())
	if v := next.series.since(0); len(v.At) != 0 {
		t.Errorf("%+v", v)
	}
}
