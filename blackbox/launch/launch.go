package launch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	module  = "github.com/andreimerlescu/concert"
	command = module + "/cmd/concert"
	// coverDir is the variable that stands in for GOCOVERDIR, which go test sets to
	// a directory that it throws away.
	coverDir = "COVERDIR"
	// readyPoll is the pause between two looks at whether Concert is ready.
	readyPoll = 10 * time.Millisecond
	// killPause is how long a killed process may take before its successors
	// are killed as well.
	killPause = 200 * time.Millisecond
	// coverPause is how long a process may take to say what it has run.
	coverPause = 2 * time.Second
)

// Build compiles cmd/concert into dir, with the go command's extra arguments,
// and returns the path of the binary. It must be called from inside the module.
// With COVERDIR in the environment, what of it is run from now on is written there.
func Build(ctx context.Context, dir string, extra ...string) (string, error) {
	binary := filepath.Join(dir, "concert")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	// The version stamp is not needed, and fails in a clone of another user.
	args := append([]string{"build", "-buildvcs=false", "-o", binary}, extra...)
	if dir := os.Getenv(coverDir); dir != "" {
		args = append(args, "-cover", "-coverpkg="+module+"/...")
		if err := os.Setenv("GOCOVERDIR", dir); err != nil { // for all that this process starts
			return "", fmt.Errorf("build concert: %w", err)
		}
	}
	out, err := exec.CommandContext(ctx, "go", append(args, command)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build concert: %w\n%s", err, out)
	}
	return binary, nil
}

// Options say what to run.
type Options struct {
	Binary string   // as returned by Build
	Args   []string // the command line; -listen 127.0.0.1:0 and -data-dir "" go before it
	// Command is the subcommand: "gate" serves, too; "" is the proxy.
	Command string
	Env     []string // NAME=value; no CONCERT_* of this process is passed on
	// ServerName is the name by which Concert is asked whether it is ready,
	// over TLS, whatever its certificate; "" for plain HTTP.
	ServerName string
}

// Process is a running Concert.
type Process struct {
	URL  string // http://host:port or https://host:port, without a slash at the end
	Addr string // host:port

	cmd            *exec.Cmd
	stdout, stderr output
	exited         chan struct{} // closed when the process has ended
}

// Start runs Concert and returns once it answers /_room/readyz. When it ends
// before that, the error is an *exitError. Cancelling ctx kills the process.
func Start(ctx context.Context, o Options) (*Process, error) {
	p := &Process{exited: make(chan struct{})}
	args := append([]string{"-listen", "127.0.0.1:0", "-data-dir", ""}, o.Args...)
	if o.Command != "" {
		args = append([]string{o.Command}, args...)
	}
	p.cmd = exec.CommandContext(ctx, o.Binary, args...)
	p.cmd.Env = append(cleanEnviron(), o.Env...)
	p.stderr.found = make(chan string, 1)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start concert: %w", err)
	}
	go func() { // ends with the process
		_ = p.cmd.Wait() // the state is read from the command
		close(p.exited)
	}()
	select {
	case p.Addr = <-p.stderr.found:
	case <-p.exited:
		return nil, &exitError{Status: p.Status(), Stdout: p.Stdout(), Stderr: p.Stderr()}
	case <-ctx.Done():
		p.Kill()
		return nil, fmt.Errorf("wait for concert to listen: %w\n%s", context.Cause(ctx), p.Stderr())
	}
	p.URL = "http://" + p.Addr
	ready := &http.Transport{DisableKeepAlives: true}
	if o.ServerName != "" {
		p.URL = "https://" + p.Addr
		ready.TLSClientConfig = &tls.Config{ServerName: o.ServerName, InsecureSkipVerify: true} // only whether it answers
	}
	if err := p.awaitReady(ctx, ready); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

// cleanEnviron is this process's environment without Concert's settings.
func cleanEnviron() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "CONCERT_") {
			env = append(env, kv)
		}
	}
	return env
}

func (p *Process) awaitReady(ctx context.Context, by *http.Transport) error {
	client := &http.Client{Transport: by}
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/_room/readyz", nil)
		if err != nil {
			return err
		}
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ticker.C:
		case <-p.exited:
			return &exitError{Status: p.Status(), Stdout: p.Stdout(), Stderr: p.Stderr()}
		case <-ctx.Done():
			return fmt.Errorf("wait until concert is ready: %w\n%s", ctx.Err(), p.Stderr())
		}
	}
}

// Signal sends a signal to the process.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status waits for the end and returns the exit status; -1 when a signal ended
// the process.
func (p *Process) Status() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}

// Stop asks the process to end gracefully and waits until it has. The error
// tells of an exit status other than 0, or that ctx ended first; then the
// process is killed.
func (p *Process) Stop(ctx context.Context) error {
	if err := p.Signal(stopSignal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
		return fmt.Errorf("stop concert: %w", err)
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.Kill()
		return fmt.Errorf("stop concert: %w", ctx.Err())
	}
	if status := p.Status(); status != 0 {
		return fmt.Errorf("stop concert: exit status %d\n%s", status, p.Stderr())
	}
	return nil
}

// Close ends Concert with the test that started it: at once, or in order where what
// it has run of its code is asked for, which a killed process does not tell.
func (p *Process) Close() {
	if os.Getenv(coverDir) != "" {
		ctx, cancel := context.WithTimeout(context.Background(), coverPause)
		defer cancel()
		_ = p.Stop(ctx) // else it is killed
	}
	p.Kill()
}

// Kill ends the process, and those it has handed its sockets to, at once and
// waits until they have ended.
func (p *Process) Kill() {
	ticker := time.NewTicker(killPause)
	defer ticker.Stop()
	for {
		_ = p.cmd.Process.Kill() // an error means that it has ended already
		select {
		case <-p.exited:
			return
		case <-ticker.C:
		}
		// A successor holds the output open, and would be waited for.
		for _, match := range listeningProcess.FindAllStringSubmatch(p.Stderr(), -1) {
			pid, err := strconv.Atoi(match[1])
			if err != nil {
				continue
			}
			if successor, err := os.FindProcess(pid); err == nil {
				_ = successor.Kill()
			}
		}
	}
}

// listeningProcess finds the processes that say that they listen.
var listeningProcess = regexp.MustCompile(`msg=listening .*\bpid=(\d+)`)

// Stdout returns what the process has printed so far: its access log.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr returns what the process has logged so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// exitError tells that Concert ended when it should have served.
type exitError struct {
	Status         int
	Stdout, Stderr string
}

// Error implements error.
func (e *exitError) Error() string {
	return fmt.Sprintf("concert ended with status %d: %s", e.Status, strings.TrimSpace(e.Stderr))
}

// output collects what a process prints and looks for its listening line.
type output struct {
	mu    sync.Mutex // guards text
	text  bytes.Buffer
	found chan string // nil, or gets the address once; capacity 1
	done  bool
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(p)
	if o.found != nil && !o.done {
		if address, ok := listening(o.text.String()); ok {
			o.found <- address
			o.done = true
		}
	}
	return n, err
}

// String returns everything written so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
