package classify

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// visit is a visit of the path from a trusted proxy that names its protocol.
func visit(target string) *pipeline.Visit {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header["X-Client-Proto"] = []string{"HTTP/2.0"}
	return &pipeline.Visit{R: r, Path: paths.Canonical(target), Client: clientip.Client{PeerTrusted: true}}
}

func stageFor(t testing.TB) *Stage {
	s, err := New(Config{Table: exampleTable(t), ProtoHeader: "X-Client-Proto"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAllocs(t *testing.T) {
	s := stageFor(t)
	for _, target := range []string{"/", "/css/a.css", "/_room/stats", "/a//b/%2F/c"} {
		v := visit(target)
		if n := allocs.PerRun(1000, func() { _, _ = s.Enter(v) }); n != 0 {
			t.Errorf("%v allocations to classify %s, want 0", n, target)
		}
	}
}

func BenchmarkEnter(b *testing.B) {
	s := stageFor(b)
	for name, target := range map[string]string{"page": "/shop/item/17", "asset": "/css/site/main.css", "odd": "/a//b/%2F/c"} {
		b.Run(name, func(b *testing.B) {
			v := visit(target)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.Enter(v)
			}
		})
	}
}
