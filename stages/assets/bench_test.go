package assets_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/assets"
	"github.com/andreimerlescu/concert/stages/classify"
	"github.com/andreimerlescu/concert/stages/pass"
)

// answer is an origin that answers at once.
type answer struct{}

// Serve implements pipeline.Origin.
func (answer) Serve(v *pipeline.Visit) error {
	v.W.WriteHeader(http.StatusOK)
	return nil
}

// guards are the stages an asset passes, in order.
func guards(tb testing.TB, keys *signed.Keyring) []pipeline.Stage {
	tb.Helper()
	table, err := paths.Build(
		paths.List[pipeline.Class]{Name: "-assets", Entries: "/css/*,/js/*", Value: pipeline.Asset},
		paths.List[pipeline.Class]{Name: "-asset-public", Entries: "/pub/*", Value: pipeline.PublicAsset},
	)
	if err != nil {
		tb.Fatal(err)
	}
	classifier, err := classify.New(classify.Config{Table: table, ProtoHeader: "X-Client-Proto"})
	if err != nil {
		tb.Fatal(err)
	}
	passes, err := pass.New(pass.Config{Keyring: keys, TTL: 10 * time.Minute, CookiePath: "/"})
	if err != nil {
		tb.Fatal(err)
	}
	pools, err := assets.New(assets.Config{
		Caps: assets.Caps{UserH1: 8, UserH2: 128, Global: 4096}, UserWait: time.Second, GlobalWait: time.Second, IdleTTL: time.Minute,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return []pipeline.Stage{classifier, passes, pools}
}

// path is a pipeline of the first n guards and a request of a pass holder.
func path(tb testing.TB, n int) (serve func(), p *pipeline.Pipeline, r *http.Request) {
	tb.Helper()
	keys, err := signed.NewKeyring([][]byte{signed.RandomSecret()}, pass.Purpose)
	if err != nil {
		tb.Fatal(err)
	}
	stages := guards(tb, keys)
	p = pipelinetest.New(tb, pipeline.Config{Origin: answer{}}, stages[:n]...)
	r = httptest.NewRequest(http.MethodGet, "/css/site/main.css", nil)
	r.Header.Set("Cookie", "theme=dark; "+firstPass(tb, stages[1].(*pass.Stage)))
	w := pipelinetest.Nowhere{}
	return func() { p.ServeHTTP(w, r) }, p, r
}

// firstPass is the cookie that a first page brings.
func firstPass(tb testing.TB, s *pass.Stage) string {
	tb.Helper()
	h := http.Header{}
	v := &pipeline.Visit{R: httptest.NewRequest(http.MethodGet, "/", nil)}
	s.EditResponse(v, http.StatusOK, h)
	c := (&http.Response{Header: h}).Cookies()
	if len(c) != 1 {
		tb.Fatalf("cookies are %v", c)
	}
	return c[0].Name + "=" + c[0].Value
}

func TestAssetAllocatesNothing(t *testing.T) {
	serve, p, r := path(t, 3)
	bare, _, _ := path(t, 0)
	without := allocs.PerRun(1000, bare)
	if n := allocs.PerRun(1000, serve) - without; n != 0 {
		t.Errorf("%v allocations for class, pass, user and global slot, want 0", n)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("the request measured is answered %d", w.Code)
	}
}

// BenchmarkGuards is what the stages add to an asset request: the difference of
// each line to the one before it.
func BenchmarkGuards(b *testing.B) {
	for n, name := range []string{"0-none", "1-classify", "2-pass", "3-slots"} {
		serve, _, _ := path(b, n)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}

func BenchmarkGuardsParallel(b *testing.B) {
	serve, p, r := path(b, 3)
	serve()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		w := pipelinetest.Nowhere{}
		for pb.Next() {
			p.ServeHTTP(w, r)
		}
	})
}
