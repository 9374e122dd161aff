package ban_test

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
	"github.com/andreimerlescu/concert/stages/ban"
)

func visit(r *http.Request) *pipeline.Visit {
	a := netip.MustParseAddr(stranger)
	return &pipeline.Visit{
		R: r, Start: time.Now(), Path: paths.Canonical(r.RequestURI),
		Client: clientip.Client{Addr: a, Key: clientip.KeyOf(a)},
	}
}

func free(tb testing.TB) (*ban.Stage, *pipeline.Visit) {
	return banStage(tb, registry(tb, nil)), visit(request("GET", "/shop/list?page=2"))
}

func TestFreeAllocatesNothing(t *testing.T) {
	s, v := free(t)
	if n := allocs.PerRun(1000, func() { _, _ = s.Enter(v) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRefusingAllocatesNothing(t *testing.T) {
	for name, d := range map[string]time.Duration{"temporary": 24 * time.Hour, "permanent": 0} {
		r := registry(t, nil)
		p := build(t, banStage(t, r), origin{})
		order(t, r, stranger, d)
		for _, target := range []string{"/", "/queue/status"} {
			req := request("GET", target, "Cookie", "a=b; room_ticket=x", "Accept", "text/html")
			w := pipelinetest.Nowhere{}
			p.ServeHTTP(w, req)
			// A ban's seconds are written anew once a second, so not quite none.
			if n := allocs.PerRun(1000, func() { p.ServeHTTP(w, req) }); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, target, n)
			}
		}
	}
}

func BenchmarkFree(b *testing.B) {
	s, v := free(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Enter(v)
	}
}

// BenchmarkRefuse is a whole refused request, the pipeline included.
func BenchmarkRefuse(b *testing.B) {
	r := registry(b, nil)
	p := build(b, banStage(b, r), origin{})
	order(b, r, stranger, time.Hour)
	req := request("GET", "/", "Cookie", "a=b; room_ticket=x")
	w := pipelinetest.Nowhere{}
	b.ReportAllocs()
	for b.Loop() {
		p.ServeHTTP(w, req)
	}
}
