package blackbox

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// binary is the Concert under test; TestMain builds it once, before any test.
var binary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "concert-blackbox")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = launch.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// adminToken opens the admin endpoints of every Concert under test.
const adminToken = "blackbox-admin-token-0123456789abcdef"

// unhurried are settings under which nobody's time is over when the machine
// stands still for seconds, again and again: who has not asked yet keeps the
// place, and a request may come slowly. Tests name the times that they are about.
var unhurried = []string{"-first-poll-grace", "0", "-token-ttl", "1h", "-read-header-timeout", "1m"}

// start runs Concert in front of the origin (host:port) until the test ends.
func start(t *testing.T, origin string, args ...string) *launch.Process {
	t.Helper()
	return launched(t, launch.Options{
		Args: append([]string{"-upstream", "http://" + origin}, args...),
		Env:  []string{"CONCERT_ADMIN_TOKEN=" + adminToken},
	})
}

// launched runs Concert, unhurried, until the test ends.
func launched(t *testing.T, o launch.Options) *launch.Process {
	t.Helper()
	o.Binary, o.Args = binary, slices.Concat(unhurried, o.Args)
	p, err := launch.Start(context.WithoutCancel(t.Context()), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		checkLog(t, p)
	})
	return p
}

// checkLog fails the test when Concert came across an impossible state.
func checkLog(t *testing.T, p *launch.Process) {
	t.Helper()
	log := p.Stderr()
	for _, mark := range []string{"panic", "BUG:", "DATA RACE", "goroutine "} {
		if strings.Contains(log, mark) {
			t.Errorf("concert's log holds %q:\n%s", mark, log)
			return
		}
	}
	if t.Failed() {
		t.Logf("concert's log:\n%s%s", log, p.Stdout())
	}
}

// raw sends one request, byte for byte, on a connection of its own and returns
// the final response. The lines are given without line ends.
func raw(t *testing.T, p *launch.Process, source string, lines ...string) rawtest.Response {
	t.Helper()
	c := rawtest.DialFrom(t, source, p.Addr)
	defer c.Close()
	c.Send(strings.Join(lines, "\r\n") + "\r\nConnection: close\r\n\r\n")
	method, _, _ := strings.Cut(lines[0], " ")
	return c.ReadResponse(method)
}

// within returns a context that ends with the test, or when patience has.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
