package blackbox

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestDemo runs the README's first command, looks at the address it prints
// with a browser's eyes, and ends it as Ctrl-C does.
func TestDemo(t *testing.T) {
	cmd := exec.CommandContext(within(t, 3*rawtest.Patience), binary, "demo", "-listen", "127.0.0.1:0", "-visitors", "20", "-latency", "100ms", "-cap", "2")
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	opened := make(chan string, 1)
	go func() { // ends with the demo's output
		var text bytes.Buffer
		address := regexp.MustCompile(`Open +http://(\S+)/`)
		for buf := make([]byte, 4096); ; {
			n, err := out.Read(buf)
			text.Write(buf[:n])
			if m := address.FindSubmatch(text.Bytes()); m != nil && len(opened) == 0 {
				select {
				case opened <- string(m[1]):
				default:
				}
			}
			if err != nil {
				ended <- text.String()
				return
			}
		}
	}()
	var address string
	select {
	case address = <-opened:
	case text := <-ended:
		t.Fatalf("the demo ended: %v\n%s%s", cmd.Wait(), text, log.String())
	}
	c := rawtest.Dial(t, address)
	c.Send("GET / HTTP/1.1\r\nHost: " + address + "\r\nAccept: text/html\r\nConnection: close\r\n\r\n")
	if r := c.ReadResponse("GET"); r.Status() != "200" {
		t.Errorf("the printed address answers with status %s", r.Status())
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	text := <-ended
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	for _, want := range []string{"visitors arrived", "(cap 2) and failed 0."} {
		if !strings.Contains(text, want) {
			t.Errorf("the demo's output does not hold %q:\n%s%s", want, text, log.String())
		}
	}
}
