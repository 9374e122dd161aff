package pipeline

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// TestHeldThingsComeBackLastFirst holds invariant 5 for every way a visit ends.
func TestHeldThingsComeBackLastFirst(t *testing.T) {
	cases := map[string]originFunc{
		"served":   ok,
		"refused":  func(*Visit) error { return &Refusal{Reason: OriginDown} },
		"aborted":  func(*Visit) error { panic(http.ErrAbortHandler) },
		"panicked": func(*Visit) error { panic("a bug") },
		"cut": func(v *Visit) error {
			v.W.WriteHeader(200)
			return &Refusal{Reason: OriginDown}
		},
		"hijacked": func(v *Visit) error { v.Hijacked(101); return nil },
	}
	for name, origin := range cases {
		t.Run(name, func(t *testing.T) {
			r := &released{}
			func() {
				defer func() { _ = recover() }()
				get(build(t, origin, holding(r, 1, 2, 3)))
			}()
			if len(r.tokens) != 3 || r.tokens[0] != 3 || r.tokens[2] != 1 {
				t.Fatalf("released %v, want [3 2 1]", r.tokens)
			}
		})
	}
}

func TestPanicBeforeTheHeaderIsAnInternalError(t *testing.T) {
	w := get(build(t, originFunc(func(*Visit) error { panic("a bug") })))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "a bug") {
		t.Fatalf("%d %q: want a 500 that hides the text", w.Code, w.Body)
	}
}

func TestFailureAfterTheHeaderCutsTheConnection(t *testing.T) {
	p := build(t, originFunc(func(v *Visit) error {
		_, _ = io.WriteString(v.W, "half a pa")
		return &Refusal{Reason: OriginDown}
	}))
	srv := httptest.NewServer(p)
	defer srv.Close()
	resp, err := http.Get(srv.URL)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Fatal("the client took a truncated response for a whole one")
	}
}

func TestUnknownErrorsAreInternalAndHidden(t *testing.T) {
	fail := stub{"fail", AllClasses, func(*Visit) (Verdict, error) { return Next, errors.New("secret detail") }}
	w := get(build(t, originFunc(ok), fail))
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") {
		t.Fatalf("%d %q", w.Code, w.Body)
	}
}

// TestSlotIsHeldUntilTheClientHasTheResponse proves that flushing comes before
// releasing: over a synchronous pipe a client that does not read keeps the slot.
// "After delivery" in invariant 5 is this.
func TestSlotIsHeldUntilTheClientHasTheResponse(t *testing.T) {
	var held atomic.Bool
	freed := make(chan struct{})
	take := stub{"take", AllClasses, func(v *Visit) (Verdict, error) {
		held.Store(true)
		v.Hold(releaseFunc(func() { held.Store(false); close(freed) }), 0)
		return Next, nil
	}}
	written := make(chan struct{})
	p := build(t, originFunc(func(v *Visit) error {
		v.W.Header().Set("Content-Length", "6")
		err := ok(v)
		close(written)
		return err
	}), take)
	client, server := net.Pipe()
	srv := &http.Server{Handler: p}
	ln := &oneConn{conn: server, done: make(chan struct{})}
	go srv.Serve(ln) // ends with Close below
	defer srv.Close()
	if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-written
	if !held.Load() {
		t.Fatal("the slot was free although the client has read nothing")
	}
	buf := make([]byte, 4096)
	got := ""
	for !strings.HasSuffix(got, "origin") {
		n, err := client.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got += string(buf[:n])
	}
	<-freed
	if !strings.Contains(got, "Content-Length: 6") {
		t.Fatalf("flushing changed the framing:\n%s", got)
	}
}

type releaseFunc func()

func (f releaseFunc) Release(*Visit, uint64) { f() }

// oneConn is a listener that has one connection to give.
type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}
func (l *oneConn) Close() error   { close(l.done); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestNobodyGetsAnInventedAnswer: a client that closed its sending side counts
// as gone, and must not read a 200 that nobody gave.
func TestNobodyGetsAnInventedAnswer(t *testing.T) {
	gone := stub{"gone", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: ClientGone} }}
	srv := httptest.NewServer(build(t, originFunc(ok), gone))
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	got, err := io.ReadAll(c)
	if len(got) != 0 {
		t.Fatalf("%q, %v: want nothing at all", got, err)
	}
}

// TestRefusedUploadsCanReadTheirAnswer sends a body at full speed to a stage
// that refuses at once.
func TestRefusedUploadsCanReadTheirAnswer(t *testing.T) {
	refuse := stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: LineFull} }}
	srv := httptest.NewServer(build(t, originFunc(ok), refuse))
	defer srv.Close()
	for _, size := range []int64{1, 2 << 20, 20 << 20} {
		req, _ := http.NewRequest("POST", srv.URL, io.LimitReader(endless{}, size))
		req.ContentLength = size
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		resp.Body.Close()
		if resp.StatusCode != 503 {
			t.Fatalf("%d bytes: status %d", size, resp.StatusCode)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRefusalDoesNotWaitForASlowBody(t *testing.T) {
	refuse := stub{"refuse", AllClasses, func(*Visit) (Verdict, error) { return Next, &Refusal{Reason: LineFull} }}
	srv := httptest.NewServer(build(t, originFunc(ok), refuse))
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx")
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	buf := make([]byte, 64)
	n, err := c.Read(buf)
	if err != nil || !strings.HasPrefix(string(buf[:n]), "HTTP/1.1 503") {
		t.Fatalf("%q, %v: want the answer before the body is complete", buf[:n], err)
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

func TestDebugHeaderIsForTokenHoldersOnly(t *testing.T) {
	r := &released{}
	p := build(t, originFunc(ok), classAs(Page), holding(r, 1))
	if got := get(p, DebugHeader, "guess").Header().Get(DebugHeader); got != "" {
		t.Fatalf("a stranger saw %q", got)
	}
	got := get(p, DebugHeader, "secret").Header().Get(DebugHeader)
	for _, want := range []string{"class=page", "classify;us=", "hold;us=", "held=1"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// TestDebugHeaderOfAnAnsweringStage: what Concert answers itself, such as the
// waiting page, says who answered.
func TestDebugHeaderOfAnAnsweringStage(t *testing.T) {
	page := stub{"page", AllClasses, func(v *Visit) (Verdict, error) {
		_, err := io.WriteString(v.W, "wait")
		return Answered, err
	}}
	p := build(t, originFunc(ok), classAs(Page), page)
	got := get(p, DebugHeader, "secret").Header().Values(DebugHeader)
	if len(got) != 1 || !strings.HasPrefix(got[0], "class=page, classify;us=") || !strings.HasSuffix(got[0], ", page") {
		t.Errorf("got %q", got)
	}
	if got := get(p, DebugHeader, "guess").Header().Get(DebugHeader); got != "" {
		t.Errorf("a stranger saw %q", got)
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
