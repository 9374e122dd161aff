//go:build unix

package handover

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// variable is where a predecessor says what the successor inherits.
const variable = "HANDOVER_FILES"

// manifest is the content of the variable, as JSON. Numbers are of file
// descriptors.
type manifest struct {
	From      int            `json:"from"` // the predecessor's process
	Control   int            `json:"control"`
	Listeners map[string]int `json:"listeners"`
	Files     map[string]int `json:"files"`
}

// Join finds out what this process inherits. Call it once, early: what is not
// claimed would leak into programs that it starts.
func Join(o Options) (*Process, error) {
	p := &Process{args: o.Args, files: make(map[string]*os.File)}
	env := make(map[string]string)
	for _, pair := range o.Environ {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case variable, "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES":
			env[name] = value
			continue
		case "NOTIFY_SOCKET":
			p.notify = value
		}
		p.environ = append(p.environ, pair)
	}
	if len(o.Args) > 0 {
		p.path = executable(o.Args[0])
	}
	if err := p.fromSystemd(env); err != nil {
		return nil, fmt.Errorf("handover: sockets of systemd: %w", err)
	}
	if err := p.fromPredecessor(env[variable]); err != nil {
		return nil, fmt.Errorf("handover: what the predecessor gave: %w", err)
	}
	return p, nil
}

// executable is the path to start again. It is not resolved further: a
// symbolic link may point to a newer version by then.
func executable(arg string) string {
	path, err := exec.LookPath(arg)
	if err != nil {
		return ""
	}
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	return path
}

// fromPredecessor takes what the variable lists. A variable of somebody else's
// predecessor, passed on by a program in between, is ignored.
func (p *Process) fromPredecessor(text string) error {
	var m manifest
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	if m.From != os.Getppid() {
		return nil
	}
	c, err := socketOf(m.Control, "hand-over", net.FileConn)
	if err != nil {
		return err
	}
	p.peer = newPeer(c)
	for name, fd := range m.Listeners {
		ln, err := listenerOf(fd)
		if err != nil {
			return err
		}
		p.inherited = append(p.inherited, inherited{name, ln})
	}
	for name, fd := range m.Files {
		syscall.CloseOnExec(fd)
		p.files[name] = os.NewFile(uintptr(fd), name)
	}
	return nil
}

// listenerOf makes a listener of an inherited descriptor.
func listenerOf(fd int) (net.Listener, error) {
	return socketOf(fd, "inherited listener", net.FileListener)
}

// socketOf makes of an inherited descriptor what its duplicate is to be.
func socketOf[S any](fd int, name string, duplicate func(*os.File) (S, error)) (S, error) {
	syscall.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), name)
	made, err := duplicate(f)
	if err != nil {
		return made, errors.Join(fmt.Errorf("descriptor %d: %w", fd, err), f.Close())
	}
	return made, f.Close()
}
