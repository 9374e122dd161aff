//go:build unix

package handover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// role says what the test program is to be when it is started as a successor.
const role = "HANDOVER_TEST_ROLE"

// address is where it listens, if not at a port of the kernel's choice.
const address = "HANDOVER_TEST_ADDRESS"

func TestMain(m *testing.M) {
	if os.Getenv(role) != "" {
		if err := succeed(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		return
	}
	os.Exit(m.Run())
}

// succeed is the whole life of a successor.
func succeed() error {
	s, err := newServer(Options{Args: os.Args, Environ: os.Environ()})
	if err != nil {
		return err
	}
	if os.Getenv(role) == "fails at the start" {
		return errors.New("no")
	}
	handed, err := s.p.TakeOver(context.Background())
	if err != nil {
		return err
	}
	if os.Getenv(role) == "fails later" {
		return errors.New("no")
	}
	if s.p.HasPredecessor() {
		if s.next, err = strconv.Atoi(string(handed.State)); err != nil {
			return err
		}
	}
	s.left.Store(int64(handed.InFlight.Pages))
	go func() { _ = s.srv.Serve(s.ln) }() // ends with Shutdown
	if err := s.p.Serving(func(n InFlight) { s.left.Store(int64(n.Pages)) }); err != nil {
		return err
	}
	<-s.over
	return nil
}

// server gives out numbers. Two that gave them out at once would give some out
// twice; one that was cut off would lose a request.
type server struct {
	p    *Process
	ln   net.Listener
	srv  *http.Server
	conn *Conns
	live *os.File      // open in every process of the test
	over chan struct{} // closed when it has drained
	busy atomic.Int64
	left atomic.Int64 // the predecessor's

	mu     sync.Mutex // guards the fields below
	next   int
	frozen bool
}

func newServer(o Options) (*server, error) {
	p, err := Join(o)
	if err != nil {
		return nil, err
	}
	s := &server{p: p, over: make(chan struct{}), live: p.File("live")}
	if s.ln, err = p.Listen("tcp", cmp.Or(os.Getenv(address), "127.0.0.1:0")); err != nil {
		return nil, err
	}
	if left := p.CloseUnclaimed(); left != nil {
		return nil, fmt.Errorf("unclaimed: %q", left)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/number", s.number)
	mux.HandleFunc("/pid", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid(), " ", s.left.Load()) })
	mux.HandleFunc("/upgrade", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.upgrade(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("/stop", func(http.ResponseWriter, *http.Request) { go s.drain() })
	s.srv = &http.Server{Handler: mux}
	s.conn = Watch(s.srv)
	return s, nil
}

func (s *server) number(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.busy.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen {
		fmt.Fprint(w, "wait") // as the waiting page would
		return
	}
	s.next++
	fmt.Fprint(w, s.next)
}

// upgrade replaces this process, which then drains.
func (s *server) upgrade() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	freeze := func(on bool) int {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.frozen = on
		return s.next
	}
	err := s.p.Upgrade(ctx, Plan{
		Files:    map[string]*os.File{"live": s.live},
		Freeze:   func(context.Context) ([]byte, error) { return []byte(strconv.Itoa(freeze(true))), nil },
		Thaw:     func() { freeze(false) },
		InFlight: func() InFlight { return InFlight{Pages: int(s.busy.Load())} },
	})
	if err == nil {
		go s.drain() // ends when the last connection does
	}
	return err
}

func (s *server) drain() {
	_ = s.p.Pause(context.Background()) // no more than it is after an upgrade
	_ = s.conn.Shutdown(context.Background())
	close(s.over)
}

// start runs the first generation within the test. Its successors have the
// role. ended waits until all of them are gone.
func start(t *testing.T, as string) (s *server, ended func()) {
	t.Helper()
	s, err := newServer(Options{Args: os.Args[:1], Environ: append(os.Environ(), role+"="+as)})
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.live = w
	go func() { _ = s.srv.Serve(s.ln) }() // ends with drain
	t.Cleanup(func() { _ = s.srv.Close(); s.p.Close(); _ = r.Close() })
	return s, func() {
		t.Helper()
		_ = w.Close()
		_ = r.SetReadDeadline(time.Now().Add(30 * time.Second))
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a process goes on: %v", err)
		}
	}
}

// ask returns the answer to a request, over a connection of its own or not.
func ask(client *http.Client, s *server, path string) (string, error) {
	resp, err := client.Get("http://" + s.ln.Addr().String() + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(string(text))
	}
	return string(text), err
}
