package redistest

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// Server is one running redis-server. Its methods are for one goroutine.
type Server struct {
	t    testing.TB
	Addr string // host:port
	Dir  string
	args []string
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended
}

// Start runs a server that keeps nothing on disk. More arguments are its
// options, as on its command line.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, parts.Port(t), args...)
}

func start(t testing.TB, port int, args ...string) *Server {
	t.Helper()
	dir := t.TempDir()
	s := &Server{t: t, Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Dir: dir}
	s.args = append([]string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no",
		"--daemonize", "no", "--protected-mode", "no",
	}, args...)
	t.Cleanup(s.Kill)
	s.Restart()
	return s
}

// Restart starts the server, which must not run, and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.cmd = exec.Command(parts.Program(s.t, "redis-server"), s.args...)
	log, err := os.OpenFile(s.Dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatalf("start redis: %v", err)
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	endWithParent(s.cmd)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatalf("start redis: %v", err)
	}
	done := make(chan struct{})
	s.done = done
	go func(c *exec.Cmd) { _ = c.Wait(); close(done) }(s.cmd) // ends with the server
	rawtest.Until(s.t, "redis answers", s.answers)
}

func (s *Server) answers() bool {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 5)
	n, _ := c.Read(answer)
	return string(answer[:n]) == "+PONG"
}

// Kill ends the server at once, as kill -9 does.
func (s *Server) Kill() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.done
}

// Pause stops the server without ending it; Resume lets it go on.
func (s *Server) Pause() { s.signal(stopSignal) }

// Resume ends a Pause.
func (s *Server) Resume() { s.signal(goOnSignal) }

func (s *Server) signal(sig os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("signal redis: %v", err)
	}
}

// Client connects to the server until the test ends.
func (s *Server) Client(t testing.TB) rueidis.Client {
	t.Helper()
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Addr}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatalf("connect to redis: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// URL is where the server is.
func (s *Server) URL() string { return "redis://" + s.Addr }
