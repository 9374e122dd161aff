package pipeline

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
)

// stub is a stage that does what its function says.
type stub struct {
	name    string
	classes Classes
	enter   func(v *Visit) (Verdict, error)
}

func (s stub) Name() string                    { return s.name }
func (s stub) Classes() Classes                { return s.classes }
func (s stub) Enter(v *Visit) (Verdict, error) { return s.enter(v) }

type originFunc func(v *Visit) error

func (f originFunc) Serve(v *Visit) error { return f(v) }

// released counts what was given back, in order.
type released struct{ tokens []uint64 }

func (r *released) Release(_ *Visit, token uint64) { r.tokens = append(r.tokens, token) }

func classAs(c Class) Stage {
	return stub{"classify", AllClasses, func(v *Visit) (Verdict, error) { v.Class = c; return Next, nil }}
}

func holding(r Releaser, tokens ...uint64) Stage {
	return stub{"hold", AllClasses, func(v *Visit) (Verdict, error) {
		for _, t := range tokens {
			v.Hold(r, t)
		}
		return Next, nil
	}}
}

func ok(v *Visit) error {
	v.EditResponse(http.StatusOK, v.W.Header())
	_, err := io.WriteString(v.W, "origin")
	return err
}

func build(t *testing.T, origin Origin, stages ...Stage) *Pipeline {
	t.Helper()
	p, err := New(Config{
		Resolver: clientip.NewResolver(nil),
		Origin:   origin,
		Renderer: NewRenderer(nil),
		Debug:    func(r *http.Request) bool { return r.Header.Get(DebugHeader) == "secret" },
		Log:      slog.New(slog.DiscardHandler),
	}, stages...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(p http.Handler, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/x", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func TestStagesRunInOrderForTheirClasses(t *testing.T) {
	var order []string
	say := func(name string, classes Classes) Stage {
		return stub{name, classes, func(*Visit) (Verdict, error) { order = append(order, name); return Next, nil }}
	}
	p := build(t, originFunc(ok), say("first", AllClasses), classAs(Asset),
		say("pages", ClassesOf(Page)), say("assets", ClassesOf(Asset, PublicAsset)))
	if w := get(p); w.Body.String() != "origin" {
		t.Fatalf("body = %q", w.Body)
	}
	if got := strings.Join(order, " "); got != "first assets" {
		t.Fatalf("stages entered: %q", got)
	}
}

func TestForwardSkipsTheRest(t *testing.T) {
	skip := stub{"skip", AllClasses, func(*Visit) (Verdict, error) { return Forward, nil }}
	never := stub{"never", AllClasses, func(*Visit) (Verdict, error) { t.Error("entered"); return Next, nil }}
	if w := get(build(t, originFunc(ok), skip, never)); w.Body.String() != "origin" {
		t.Fatalf("body = %q", w.Body)
	}
}

func TestOwnPathsNeverReachTheOrigin(t *testing.T) {
	origin := originFunc(func(*Visit) error { t.Error("reached"); return nil })
	if w := get(build(t, origin, classAs(Operations))); w.Code != http.StatusNotFound {
		t.Fatalf("status %d", w.Code)
	}
}

func TestStageNamesMustBeUnique(t *testing.T) {
	_, err := New(Config{}, classAs(Page), classAs(Page))
	if err == nil || !strings.Contains(err.Error(), `"classify"`) {
		t.Fatalf("err = %v, want one that names the stage", err)
	}
}

func TestSwapLeavesVisitsUnderWayAlone(t *testing.T) {
	inside, leave := make(chan struct{}), make(chan struct{})
	old := originFunc(func(v *Visit) error {
		close(inside)
		<-leave
		_, err := io.WriteString(v.W, "old")
		return err
	})
	p := build(t, old, classAs(Page))
	answer := make(chan string)
	go func() { answer <- get(p).Body.String() }()
	<-inside
	cfg := p.current.Load().cfg
	cfg.Origin = originFunc(ok)
	if err := p.Swap(cfg, classAs(Page), stub{"new", AllClasses, func(*Visit) (Verdict, error) { return Next, nil }}); err != nil {
		t.Fatal(err)
	}
	if got := get(p).Body.String(); got != "origin" {
		t.Errorf("after the swap: %q", got)
	}
	close(leave)
	if got := <-answer; got != "old" {
		t.Errorf("under way: %q", got)
	}
	st := p.Stats().Stages
	if len(st) != 2 || st[0].Entered != 2 || st[1].Entered != 1 {
		t.Errorf("counters after the swap: %+v", st)
	}
	if err := p.Swap(cfg, classAs(Page), classAs(Page)); err == nil {
		t.Error("two stages of one name were accepted")
	}
	if got := len(p.Stats().Stages); got != 2 {
		t.Errorf("a failed swap left %d stages", got)
	}
}

func TestInsertedStagesStandWhereTheyWerePut(t *testing.T) {
	order := Order{classAs(Page), stub{name: "queue"}}
	if err := order.Before("queue", stub{name: "partner"}); err != nil {
		t.Fatal(err)
	}
	if err := order.After("queue", stub{name: "tail"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range order {
		names = append(names, s.Name())
	}
	if got := strings.Join(names, " "); got != "classify partner queue tail" {
		t.Fatalf("order = %q", got)
	}
	if err := order.Before("nobody", stub{name: "x"}); err == nil {
		t.Fatal("an unknown name was accepted")
	}
}

// TestServingAllocatesNothing holds the pipeline's own share of an admitted
// visit at zero.
func TestServingAllocatesNothing(t *testing.T) {
	r := &released{tokens: make([]uint64, 0, 1<<20)}
	p := build(t, originFunc(func(v *Visit) error { v.W.WriteHeader(200); return nil }), classAs(Page), holding(r, 1))
	req := httptest.NewRequest("GET", "/shop", nil)
	w := &nullWriter{header: http.Header{}}
	p.ServeHTTP(w, req)
	if n := allocs.PerRun(1000, func() { p.ServeHTTP(w, req) }); n != 0 {
		t.Fatalf("%v allocations per visit", n)
	}
}

// nullWriter is a response writer that keeps nothing.
type nullWriter struct{ header http.Header }

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *nullWriter) WriteHeader(int)             {}
func (w *nullWriter) Flush()                      {}
