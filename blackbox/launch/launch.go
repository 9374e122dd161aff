package launch

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
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
