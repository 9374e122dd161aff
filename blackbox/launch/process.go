package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// killPause is how long a killed process may take before its successors
	// are killed as well.
	killPause = 200 * time.Millisecond
	// coverPause is how long a process may take to say what it has run.
	coverPause = 2 * time.Second
)

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
