//go:build unix

package handover

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// successor is a process that was started.
type successor struct {
	pid  int
	proc *os.Process
	peer *peer
}

// kill ends the process, waits until it is gone, and tells how it ended.
func (s *successor) kill() error {
	s.peer.close()
	_ = s.proc.Kill() // it may have ended by itself
	state, err := s.proc.Wait()
	if err != nil {
		return fmt.Errorf("wait for process %d: %w", s.pid, err)
	}
	return fmt.Errorf("process %d: %s", s.pid, state)
}

// start starts a successor with everything it needs.
func (p *Process) start(files map[string]*os.File) (*successor, error) {
	switch {
	case p.path == "":
		return nil, errors.New("the path of this program is unknown")
	case os.Getpid() == 1:
		return nil, errors.New("this is process 1, which cannot be replaced")
	}
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err = errors.Join(err, ours.Close()); err != nil {
		return nil, err
	}
	pid, err := p.fork(theirs, files)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	proc, err := os.FindProcess(pid)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &successor{pid, proc, newPeer(conn)}, nil
}

// fork starts the program anew, with its end of the control socket and all else
// that it inherits.
func (p *Process) fork(control *os.File, files map[string]*os.File) (pid int, err error) {
	b := bundle{m: manifest{From: os.Getpid(), Listeners: make(map[string]int), Files: make(map[string]int)}}
	defer b.close()
	if err := p.pack(&b, control, files); err != nil {
		return 0, err
	}
	text, err := json.Marshal(b.m)
	if err != nil {
		return 0, err
	}
	// Not by package os, which would switch the sockets to blocking mode, for
	// this process as well.
	pid, err = syscall.ForkExec(p.path, p.args, &syscall.ProcAttr{
		Env:   append(p.Environ(), variable+"="+string(text)),
		Files: b.fds,
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", p.path, err)
	}
	return pid, nil
}

// pair makes two connected sockets that no other program inherits.
func pair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a control socket: %w", err)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	return os.NewFile(uintptr(fds[0]), "hand-over"), os.NewFile(uintptr(fds[1]), "hand-over"), nil
}

// pack collects what the successor inherits.
func (p *Process) pack(b *bundle, control *os.File, files map[string]*os.File) error {
	for _, std := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		if _, err := b.add(std); err != nil {
			return err
		}
	}
	var err error
	if b.m.Control, err = b.add(control); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		filer, ok := l.Listener.(interface{ File() (*os.File, error) })
		if !ok {
			continue // nothing package net makes
		}
		f, err := filer.File()
		if errors.Is(err, net.ErrClosed) {
			continue
		}
		if err != nil {
			return err
		}
		b.open = append(b.open, f)
		if b.m.Listeners[l.name], err = b.add(f); err != nil {
			return err
		}
	}
	for name, f := range files {
		if b.m.Files[name], err = b.add(f); err != nil {
			return err
		}
	}
	return nil
}

// bundle is what a successor inherits.
type bundle struct {
	m    manifest
	fds  []uintptr  // by the number they will have there
	open []*os.File // to close afterwards
}

// add returns the number that the file will have in the successor.
func (b *bundle) add(f *os.File) (int, error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = c.Control(func(fd uintptr) { b.fds = append(b.fds, fd) })
	return len(b.fds) - 1, err
}

func (b *bundle) close() {
	for _, f := range b.open {
		_ = f.Close() // a duplicate
	}
}
