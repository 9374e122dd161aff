package blackbox

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// exit runs Concert expecting it to end by itself.
func exit(t *testing.T, env []string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(within(t, rawtest.Patience), binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(env, "PATH=/nowhere", "GOCOVERDIR="+os.Getenv("GOCOVERDIR")), &out, &errs
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestBadSettingsAreAllReported(t *testing.T) {
	status, _, stderr := exit(t, []string{"CONCERT_MAX_QUEUE=many", "CONCERT_ADMIT_SECRET=short"},
		"-cap", "0", "-upstream", "ftp://x", "-admit-ttl", "1s")
	if status != 2 {
		t.Errorf("exit status %d, want 2", status)
	}
	for _, want := range []string{"-cap", "-upstream", "ftp://x", "-admit-ttl", "1s", "CONCERT_MAX_QUEUE", "many", "CONCERT_ADMIT_SECRET"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the report does not name %q", want)
		}
	}
	if strings.Contains(stderr, "short\"") {
		t.Error("the report shows the secret")
	}
	if t.Failed() {
		t.Log(stderr)
	}
}

func TestBusyPortNamesTheFlag(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	status, _, stderr := exit(t, nil, "-listen", l.Addr().String())
	if status == 0 || !strings.Contains(stderr, "-listen "+l.Addr().String()) {
		t.Errorf("exit status %d, stderr %q; want it to name the flag", status, stderr)
	}
}

func TestVersionAndCheck(t *testing.T) {
	if status, stdout, _ := exit(t, nil, "-upstream", "nonsense", "-version"); status != 0 || !strings.HasPrefix(stdout, "concert ") {
		t.Errorf("-version beside a bad flag: exit status %d, stdout %q", status, stdout)
	}
	const secret = "0123456789abcdef0123456789abcdef"
	status, stdout, stderr := exit(t, []string{"CONCERT_CAPACITY=7", "CONCERT_NO_SUCH=1", "CONCERT_ADMIT_SECRET=" + secret}, "check", "-max-queue", "9")
	if status != 0 || strings.Contains(stdout+stderr, secret) {
		t.Errorf("check: exit status %d, or it shows a secret:\n%s%s", status, stdout, stderr)
	}
	for _, want := range []string{"cap", "  env  ", "max-queue", "upstream", "CONCERT_NO_SUCH"} {
		if !strings.Contains(stdout+stderr, want) {
			t.Errorf("check does not name %s:\n%s%s", want, stdout, stderr)
		}
	}
}

// TestStopFinishesPages: a signal lets the page in flight end, turns newcomers
// away, and the exit is clean.
func TestStopFinishesPages(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	c := rawtest.Dial(t, p.Addr)
	c.Send("GET /hold HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
	rawtest.Until(t, "the page is at the origin", func() bool { return len(o.Requests()) == 1 })
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "no connection is accepted any more", func() bool {
		conn, err := net.Dial("tcp", p.Addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	o.letGo()
	if r := c.ReadResponse("GET"); r.Status() != "200" || r.Err != nil || !strings.Contains(string(r.Body), originMark) {
		t.Errorf("the page in flight: status %s, %v", r.Status(), r.Err)
	}
	if status := p.Status(); status != 0 {
		t.Errorf("exit status %d, want 0:\n%s", status, p.Stderr())
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	o.fill(t, p, 1)
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "concert drains", func() bool {
		conn, err := net.Dial("tcp", p.Addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	select {
	case <-p.Exited():
		t.Fatal("ended with a page in flight after one signal")
	default:
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := p.Status(); status == 0 { // Status waits for the end; the page is still held
		t.Error("exit status 0 although a page was cut off")
	}
}

// TestStopEndsStreams: an open socket is told to go and does not keep Concert
// from stopping.
func TestStopEndsStreams(t *testing.T) {
	_, p := startStreaming(t)
	v := newVisitor(t, p)
	v.page("/")
	c, _, err := v.dial("/ws")
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Read(within(t, rawtest.Patience))
	if got := websocket.CloseStatus(err); got != websocket.StatusGoingAway {
		t.Errorf("the socket ended with %v (%v), want 1001", got, err)
	}
	if status := p.Status(); status != 0 {
		t.Errorf("exit status %d, want 0:\n%s", status, p.Stderr())
	}
}

// TestPassSurvivesRestart: tickets' and passes' keys come from the
// environment, so a new process honours what the old one gave out.
func TestPassSurvivesRestart(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	run := func(secret string) *launch.Process {
		p, err := launch.Start(t.Context(), launch.Options{
			Binary: binary, Env: []string{"CONCERT_ADMIT_SECRET=" + secret},
			Args: []string{"-upstream", "http://" + o.Addr(), "-assets", "/css/*"},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Kill(); checkLog(t, p) })
		return p
	}
	older, newer := strings.Repeat("a", 32), strings.Repeat("b", 32)
	v := newVisitor(t, run(older))
	v.page("/")
	pass := "Cookie: concert_admit=" + v.cookie("concert_admit")
	for secret, want := range map[string]string{older: "200", newer + "," + older: "200", newer: "403"} {
		r := raw(t, run(secret), "127.0.0.1", "GET /css/a.css HTTP/1.1", "Host: site.test", pass)
		if r.Status() != want {
			t.Errorf("restarted with %q: status %s, want %s", secret, r.Status(), want)
		}
	}
}

func TestOperationsAnswerInAFullRoom(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	for path, want := range map[string]string{
		"/_room/healthz": "ok", "/_room/readyz": "ready", "/_room/stats": `"cap":1`, "/_room/metrics": "# TYPE ",
	} {
		status, body := call(t, http.MethodGet, p.URL+path, "", "")
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, body %q; want it to hold %q", path, status, body, want)
		}
	}
}

// TestOneLogLinePerRequest: nothing from a request can forge a second line.
func TestOneLogLinePerRequest(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	raw(t, p, "127.0.0.1", "GET /%0d%0aFAKE%20127.0.0.1%20GET%20/%20200%1b[31m?x=\"y HTTP/1.1", "Host: site.test", "User-Agent: a\t\"b\" \u0085c")
	raw(t, p, "127.0.0.1", "GET /end HTTP/1.1", "Host: site.test")
	rawtest.Until(t, "both requests are logged", func() bool { return strings.Contains(p.Stdout(), "/end") })
	log := strings.TrimSuffix(p.Stdout(), "\n")
	if lines := strings.Split(log, "\n"); len(lines) != 2 {
		t.Errorf("%d lines for two requests:\n%s", len(lines), log)
	}
	if strings.ContainsAny(log, "\x1b\t\r") {
		t.Errorf("control characters in the log: %q", log)
	}
}
