//go:build unix

package handover

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

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
