//go:build unix

package handover

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

// crowd asks for numbers until stop, and returns what it got by number.
func crowd(t *testing.T, s *server, size int) (stop func() map[string]int) {
	var wg sync.WaitGroup
	var mu sync.Mutex // guards got
	got := make(map[string]int)
	end := make(chan struct{})
	for i := range size {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}}
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for {
				select {
				case <-end:
					return
				default:
				}
				text, err := ask(client, s, "/number")
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				mu.Lock()
				got[text]++
				mu.Unlock()
			}
		})
	}
	return func() map[string]int {
		close(end)
		wg.Wait()
		return got
	}
}

// TestUpgradeUnderLoad replaces the server several times while a crowd asks:
// no request fails, and no number is given out twice or lost.
func TestUpgradeUnderLoad(t *testing.T) {
	s, ended := start(t, "serve")
	stop := crowd(t, s, 6)
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	pids := make(map[string]bool)
	for range 4 {
		pid := await(t, fresh, s, pids)
		pids[pid] = true
		if _, err := ask(fresh, s, "/upgrade"); err != nil {
			t.Fatal(err)
		}
	}
	pids[await(t, fresh, s, pids)] = true
	got := stop()
	if _, err := ask(fresh, s, "/stop"); err != nil {
		t.Error(err)
	}
	if s.p.Upgrade(t.Context(), Plan{}) == nil {
		t.Error("a process was replaced twice")
	}
	<-s.over
	s.p.Close()
	ended()

	waits := got["wait"]
	delete(got, "wait")
	most := 0
	for text, times := range got {
		n, err := strconv.Atoi(text)
		if err != nil || times != 1 {
			t.Errorf("number %q was given out %d times", text, times)
		}
		most = max(most, n)
	}
	if most != len(got) || len(pids) != 5 {
		t.Errorf("%d numbers up to %d, from %d processes", len(got), most, len(pids))
	}
	t.Logf("%d numbers, %d told to wait, by %d processes", most, waits, len(pids))
}

// await returns the number of a process that is not among those known, once
// it knows that its predecessor is gone or has nothing in flight.
func await(t *testing.T, client *http.Client, s *server, known map[string]bool) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		text, err := ask(client, s, "/pid")
		if err != nil {
			t.Fatal(err)
		}
		if pid, left, _ := strings.Cut(text, " "); !known[pid] && left == "0" {
			return pid
		}
	}
	t.Fatal("no new process serves, or its predecessor does not end")
	return ""
}

// A successor that fails costs nothing: its predecessor goes on.
func TestFailedUpgrade(t *testing.T) {
	for as, want := range map[string]string{
		"fails at the start": "did not get ready: the other process ended",
		"fails later":        "did not take over: the other process ended",
	} {
		t.Run(as, func(t *testing.T) {
			s, ended := start(t, as)
			stop := crowd(t, s, 3)
			for range 2 {
				err := s.upgrade()
				wantError(t, err, want)
				wantError(t, err, "exit status 3")
			}
			got := stop()
			if _, err := ask(http.DefaultClient, s, "/number"); err != nil {
				t.Error(err)
			}
			for text, times := range got {
				if text != "wait" && times != 1 {
					t.Errorf("number %q was given out %d times", text, times)
				}
			}
			ended()
		})
	}
}

func TestUpgradeThatCannotFreeze(t *testing.T) {
	s, ended := start(t, "serve")
	thawed := false
	err := s.p.Upgrade(t.Context(), Plan{
		Files:    map[string]*os.File{"live": s.live},
		Freeze:   func(context.Context) ([]byte, error) { return nil, errors.New("the line is away") },
		Thaw:     func() { thawed = true },
		InFlight: func() InFlight { return InFlight{} },
	})
	wantError(t, err, "freeze: the line is away")
	if !thawed {
		t.Error("not thawed")
	}
	if _, err := ask(http.DefaultClient, s, "/number"); err != nil {
		t.Error(err)
	}
	ended()
}

func TestUpgradeOfAProgramThatIsGone(t *testing.T) {
	p, err := Join(Options{Args: []string{filepath.Join(t.TempDir(), "gone")}})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, p.Upgrade(t.Context(), Plan{}), "path of this program is unknown")
}

// A program that systemd starts for a socket serves who connected before.
func TestSocketActivation(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{ln: ln} // for its address
	answer := make(chan error, 1)
	go func() { // ends with the answer
		text, err := ask(http.DefaultClient, s, "/number")
		if err == nil && text != "1" {
			err = errors.New(text)
		}
		answer <- err
	}()
	program := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec "$0"`, os.Args[0])
	program.Env = append(os.Environ(), role+"=serve", address+"="+ln.Addr().String(), "LISTEN_FDS=1")
	program.ExtraFiles = []*os.File{f}
	program.Stderr = os.Stderr
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = f.Close(), ln.Close() // the program has the socket now
	if err := <-answer; err != nil {
		t.Error(err)
	}
	if _, err := ask(http.DefaultClient, s, "/stop"); err != nil {
		t.Error(err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
}

func TestSystemdEnvironment(t *testing.T) {
	own := strconv.Itoa(os.Getpid())
	for name, environ := range map[string][]string{
		"not ours": {"LISTEN_PID=1", "LISTEN_FDS=1", "A=1"},
		"none":     {"LISTEN_PID=" + own, "LISTEN_FDS=0", "A=1"},
	} {
		p, err := Join(Options{Environ: environ})
		if err != nil || len(p.Environ()) != 1 || len(p.inherited) != 0 {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	_, err := Join(Options{Environ: []string{"LISTEN_PID=" + own, "LISTEN_FDS=x"}})
	wantError(t, err, `LISTEN_FDS "x" is not a number`)
}

func TestSystemdIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := Join(Options{Environ: []string{"NOTIFY_SOCKET=" + path}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Serving(nil); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, 100)
	n, err := c.Read(text)
	if err != nil || string(text[:n]) != "READY=1" {
		t.Errorf("told %q, %v", text[:n], err)
	}
	if len(p.Environ()) != 1 {
		t.Error("a successor could not tell systemd")
	}
}

// A variable that came through another program is not meant for this one.
func TestForeignVariable(t *testing.T) {
	text, err := json.Marshal(manifest{From: os.Getppid() + 1, Control: 77})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Join(Options{Environ: []string{variable + "=" + string(text)}})
	if err != nil || p.HasPredecessor() || len(p.Environ()) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"{", fmt.Sprintf(`{"from":%d,"control":9999}`, os.Getppid())} {
		if _, err := Join(Options{Environ: []string{variable + "=" + text}}); err == nil {
			t.Errorf("%s was accepted", text)
		}
	}
	var bad syscall.Errno
	_, err = listenerOf(9999)
	if !errors.As(err, &bad) || bad != syscall.EBADF {
		t.Errorf("got %v", err)
	}
}
