package priority

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/pipeline"
)

// checked are Cookie headers by what is in them, with the rank they amount to.
func checked(s *Stage) map[string]string {
	g := grant{rank: pipeline.Prospect, issued: time.Now().UnixMilli(), expires: time.Now().Add(time.Hour).Unix()}
	g.pass[0] = 7
	good := grantCookie + "=" + string(s.settings.Load().Grants.AppendToken(nil, g.appendPayload(nil)))
	s.newest.issue(&grant{pass: g.pass, issued: g.issued - 1, expires: g.expires}, 0)
	return map[string]string{
		"valid":      good,
		"among-many": strings.Repeat("wordpress_logged_in=andrei%7C1800000000%7Cx; ", 8) + good,
		"forged":     grantCookie + "=" + good[len(grantCookie)+2:],
		"none":       "a=1; b=2",
	}
}

func benchStage(tb testing.TB) *Stage {
	tb.Helper()
	s, err := New(Config{
		Line:   memory.New(memory.Options{Settings: line.Settings{Policy: line.Policy{Cap: 9}}, Start: time.Now()}),
		Grants: testKeys(tb, "k"), LaneRank: pipeline.Customer, RetryAfter: time.Second,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// enter is one page visit at the stage; it resets what a pipeline would.
func enter(s *Stage, cookie string) (*pipeline.Visit, func()) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header["Cookie"] = []string{cookie}
	fresh := pipeline.Visit{R: r, Start: time.Now(), Class: pipeline.Page, Pass: pipeline.Pass{State: pipeline.PassValid, ID: [16]byte{7}}}
	v := new(pipeline.Visit)
	return v, func() {
		*v = fresh
		_, _ = s.Enter(v)
	}
}

func TestAllocs(t *testing.T) {
	s := benchStage(t)
	for name, cookie := range checked(s) {
		v, check := enter(s, cookie)
		if n := allocs.PerRun(1000, check); n != 0 {
			t.Errorf("%s: %v allocations to check a grant, want 0", name, n)
		}
		if want := name == "valid" || name == "among-many"; (v.Rank == pipeline.Prospect) != want {
			t.Errorf("%s: rank %v", name, v.Rank)
		}
	}
}

func BenchmarkEnter(b *testing.B) {
	s := benchStage(b)
	for name, cookie := range checked(s) {
		b.Run(name, func(b *testing.B) {
			_, check := enter(s, cookie)
			b.ReportAllocs()
			for b.Loop() {
				check()
			}
		})
	}
}

// BenchmarkLane takes a slot of the lane and gives it back.
func BenchmarkLane(b *testing.B) {
	l, now := newLane(), time.Now()
	l.adjust(now, 9, 0)
	b.ReportAllocs()
	for b.Loop() {
		l.try(7)
		l.release(now, 7)
	}
}
