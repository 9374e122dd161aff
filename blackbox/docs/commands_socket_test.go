//go:build unix

package docs

import (
	"bytes"
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/pages"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// shim stands for concert on the path. The two examples listen where they are
// told to on the command line only.
const shim = `#!/bin/sh
case "$1" in
demo | target-demo) exec "$PROGRAM_UNDER_TEST" "$@" -listen 127.0.0.1:0 ;;
esac
exec "$PROGRAM_UNDER_TEST" $COMMAND_UNDER_TEST "$@"
`

// scriptLimit ends commands that hang. Some are many, and go tool has to compile
// its tool the first time.
const scriptLimit = 2 * time.Minute

// tools are programs that commands may need, beside the shell's.
var tools = regexp.MustCompile(`\b(curl|php|ab|jq|openssl)\b`)

// script makes the commands ready to run: each has to succeed.
func (w *world) script(text string, more ...string) *exec.Cmd {
	w.t.Helper()
	for _, m := range tools.FindAllStringSubmatch(text, -1) {
		parts.Program(w.t, m[1])
	}
	bin := w.t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "concert"), []byte(shim), 0o700); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), scriptLimit)
	w.t.Cleanup(cancel)
	text = strings.NewReplacer(w.replaced...).Replace(text)
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = w.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "CONCERT_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "PROGRAM_UNDER_TEST="+program, "CURL_HOME="+w.dir)
	cmd.Env = append(append(cmd.Env, w.env...), more...)
	// What it starts belongs to a group, and ends with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// run runs commands to their end. curl fails at a refusal, unless to be refused
// is the point.
func (w *world) run(text string, refused bool, more ...string) {
	w.t.Helper()
	w.file(".curlrc", "show-error\nwrite-out=\"\\nstatus %{http_code}\\n\"\n")
	if !refused {
		w.file(".curlrc", "show-error\nfail-with-body\n")
	}
	out, err := w.script(text, more...).CombinedOutput()
	if err != nil {
		w.t.Errorf("%v\n%s\nsaid:\n%s", err, text, out)
	}
	if !refused {
		return
	}
	for _, m := range promised.FindAllStringSubmatch(text, -1) {
		want := m[2] // a member of the answer
		if m[1] != "" {
			want = "status " + m[1]
		}
		if !strings.Contains(string(out), want) {
			w.t.Errorf("%s\npromises %q, and said:\n%s", text, want, out)
		}
	}
}

// promised is what the comment behind a refused command says of its answer.
var promised = regexp.MustCompile(`# (\d{3}),|("\w+":)\w`)

// output is what a process says, read while it runs.
type output struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) find(what *regexp.Regexp) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return what.FindStringSubmatch(o.text.String())
}

// listening is a whole line in which Concert says where it serves.
var listening = regexp.MustCompile(`(?:msg=listening.* address=|Open +http://)([0-9.]+:[0-9]+)\b.*\n`)

// serve runs commands, the last of which serves, until that answers.
func (w *world) serve(text string) {
	w.t.Helper()
	said := &output{}
	addresses := []string{"CONCERT_LISTEN=127.0.0.1:0", "CONCERT_PORTAL_LISTEN=127.0.0.1:0"}
	if strings.Contains(text, "concert gate") {
		addresses = []string{"CONCERT_GATE_LISTEN=127.0.0.1:0", "CONCERT_GATE_ADMIN_LISTEN=127.0.0.1:0"}
	}
	cmd := w.script(text, addresses...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // when all that hold the output have ended
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
		if w.t.Failed() {
			w.t.Logf("%s\nsaid:\n%s", text, said.text.String())
		}
	}()
	var address string
	rawtest.Until(w.t, "it says where it listens", func() bool {
		select {
		case err := <-ended:
			ended <- err
			w.t.Fatalf("it ended: %v", err)
		default:
		}
		found := said.find(listening)
		if found != nil {
			address = found[1]
		}
		return found != nil
	})
	scheme, own := "http://", &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // only whether it answers
	defer own.CloseIdleConnections()
	if strings.Contains(text, "-tls-cert") {
		scheme = "https://"
	}
	client := &http.Client{Transport: own, Timeout: rawtest.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	rawtest.Until(w.t, "it answers, and the site behind it", func() bool {
		resp, err := client.Get(scheme + address + "/")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode < http.StatusInternalServerError
	})
}

// TestBlocks runs the blocks of commands of every page.
func TestBlocks(t *testing.T) {
	for _, p := range readPages(t) {
		for _, b := range p.Blocks {
			if b.Language != "sh" || b.How == "norun" {
				continue
			}
			t.Run(b.At(), func(t *testing.T) {
				t.Parallel()
				runBlock(t, b)
			})
		}
	}
}

func runBlock(t *testing.T, b pages.Block) {
	w := newWorld(t)
	switch b.How {
	case "serve":
		w.provide(b.Text)
		w.serve(b.Text)
	case "check":
		w.run(b.Text, false, "COMMAND_UNDER_TEST=check")
	case "gate":
		w.withRooms().run(b.Text, false)
	default:
		w.withConcert().run(b.Text, b.How == "refused")
	}
}

// provide makes what a server needs beside the site.
func (w *world) provide(text string) {
	w.t.Helper()
	if strings.Contains(text, "redis://") {
		w.replaced = append(w.replaced, "10.0.0.5:6379", redistest.Start(w.t).Addr)
	}
	if strings.Contains(text, "php -S") {
		w.replaced = append([]string{"127.0.0.1:3000", parts.Address(w.t)}, w.replaced...)
	}
	if strings.Contains(text, "-tls-cert") {
		pair := certtest.New(w.t).Issue(w.t, certtest.Names("example.com"))
		w.file("fullchain.pem", string(pair.Chain))
		w.file("privkey.pem", string(pair.Key))
	}
}

// inText are the commands in running text that can be run beside a Concert.
var inText = regexp.MustCompile(`^(?:concert (?:ctl|check|page)|curl|openssl) `)

// notInText are those that cannot, and why.
var notInText = map[string]string{
	"curl --haproxy-protocol http://127.0.0.1:8080/_room/healthz": "for a Concert with -proxy-protocol",
}

// TestCommandsInText runs what pages tell to type in passing, in their order.
// The changelog names commands that there are, and tells nobody to type them.
func TestCommandsInText(t *testing.T) {
	for _, p := range readPages(t) {
		var commands []string
		for _, span := range p.Spans() {
			if inText.MatchString(span) && notInText[span] == "" {
				commands = append(commands, span)
			}
		}
		if len(commands) == 0 || p.Path == "CHANGELOG.md" {
			continue
		}
		t.Run(p.Path, func(t *testing.T) {
			t.Parallel()
			newWorld(t).withConcert().run(strings.Join(commands, "\n"), false)
		})
	}
}
