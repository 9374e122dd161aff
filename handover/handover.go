package handover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
)

// ErrUnsupported is the error of Upgrade where sockets cannot be handed over.
var ErrUnsupported = errors.New("handover: not supported here")

// InFlight is how much a process has at the origin.
type InFlight struct {
	Pages   int `json:"pages"`
	Assets  int `json:"assets"`
	Streams int `json:"streams"`
	// Rooms are the pages of rooms that have a cap of their own, by their id.
	Rooms map[string]int `json:"rooms,omitempty"`
}

// equal reports whether both are the same.
func (n InFlight) equal(m InFlight) bool {
	return n.Pages == m.Pages && n.Assets == m.Assets && n.Streams == m.Streams && maps.Equal(n.Rooms, m.Rooms)
}

// Options are what a process knows of itself.
type Options struct {
	Args    []string // os.Args
	Environ []string // os.Environ()
}

// Plan is the predecessor's part in an upgrade.
type Plan struct {
	// Files are open files that the successor needs besides sockets, by name.
	Files map[string]*os.File
	// Freeze stops letting anybody in and returns what the successor goes on
	// from. It is called when the successor is ready to take over.
	Freeze func(ctx context.Context) (state []byte, err error)
	// Thaw undoes Freeze, also one that failed, when the successor did not
	// take over.
	Thaw func()
	// InFlight tells how much may be at the origin from now on, which never
	// rises after Freeze. It is called every few milliseconds from Freeze on,
	// until Close or the end of the process.
	InFlight func() InFlight
}

// Handed is what a predecessor leaves.
type Handed struct {
	State    []byte // nil when there was no predecessor
	InFlight InFlight
}

// Process is this process's part in hand-overs. Its methods are safe for
// concurrent use.
type Process struct {
	args    []string
	environ []string // without what is meant for this process only
	path    string   // of the executable; "" when it is unknown
	notify  string   // systemd's socket, "" for none
	peer    *peer    // the predecessor; nil for none

	mu        sync.Mutex // guards the fields below
	inherited []inherited
	files     map[string]*os.File
	listeners []*listener
	upgrading bool
	closers   []func()
}

// inherited is a socket that nobody asked for yet.
type inherited struct {
	name string // network and address as they were asked for; "" from systemd
	ln   net.Listener
}

// Environ returns the environment without the variables of the hand-over.
func (p *Process) Environ() []string { return slices.Clone(p.environ) }

// HasPredecessor reports whether another process is waiting to be replaced.
func (p *Process) HasPredecessor() bool { return p.peer != nil }

// File returns a file of Plan.Files of the predecessor, once; nil when there
// is none of that name. The caller owns it.
func (p *Process) File(name string) *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.files[name]
	delete(p.files, name)
	return f
}

// Listen returns the inherited socket for the address, or opens one. What it
// returns will be handed on to a successor.
func (p *Process) Listen(network, addr string) (net.Listener, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := network + " " + addr
	i := slices.IndexFunc(p.inherited, func(in inherited) bool {
		return in.name == name || in.name == "" && listensOn(in.ln.Addr(), network, addr)
	})
	var ln net.Listener
	if i >= 0 {
		ln = p.inherited[i].ln
		p.inherited = slices.Delete(p.inherited, i, i+1)
	} else {
		var err error
		if ln, err = net.Listen(network, addr); err != nil {
			return nil, err
		}
	}
	l := newListener(ln, name)
	p.listeners = append(p.listeners, l)
	return l, nil
}

// CloseUnclaimed closes the inherited sockets that nobody asked for, and
// returns their addresses, for a warning: connections to them were accepted by
// the kernel and are dropped now. Call it after every Listen.
func (p *Process) CloseUnclaimed() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var addrs []string
	for _, in := range p.inherited {
		addrs = append(addrs, in.ln.Addr().String())
		_ = in.ln.Close() // nothing was done with it
	}
	for _, f := range p.files {
		_ = f.Close()
	}
	p.inherited, p.files = nil, nil
	return addrs
}

// listensOn reports whether a socket of systemd's listens on the address that
// is asked for.
func listensOn(have net.Addr, network, addr string) bool {
	tcp, ok := have.(*net.TCPAddr)
	if !ok {
		return have.Network() == network && have.String() == addr
	}
	want, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil || !strings.HasPrefix(network, "tcp") || want.Port != tcp.Port {
		return false
	}
	everywhere := len(want.IP) == 0 || want.IP.IsUnspecified()
	return everywhere == tcp.IP.IsUnspecified() && (everywhere || want.IP.Equal(tcp.IP))
}

// TakeOver tells the predecessor that this process is ready, and waits for
// what it leaves. From then on the predecessor lets nobody in. Without a
// predecessor it returns at once.
func (p *Process) TakeOver(ctx context.Context) (Handed, error) {
	if p.peer == nil {
		return Handed{}, nil
	}
	defer p.peer.until(ctx)()
	handed, err := p.peer.takeOver()
	if err != nil {
		return Handed{}, fmt.Errorf("handover: take over: %w", err)
	}
	return handed, nil
}

// Serving says that this process accepts connections: to the predecessor,
// which then drains, or to systemd. changed is called, on another goroutine,
// with what the predecessor still has at the origin: whenever that changes,
// and with 0 when it is gone. Without a predecessor it is not called.
func (p *Process) Serving(changed func(InFlight)) error {
	if p.peer == nil {
		return p.tell("READY=1")
	}
	if err := p.peer.send(kindServing, nil); err != nil {
		return fmt.Errorf("handover: tell the predecessor: %w", err)
	}
	p.onClose(p.peer.close)
	go func() { // ends with the predecessor, or with Close
		for {
			n, err := p.peer.inFlight()
			if err != nil {
				changed(InFlight{}) // it is gone, and all it had
				return
			}
			changed(n)
		}
	}()
	return nil
}

// Close ends what runs in the background. It does not close the listeners.
func (p *Process) Close() {
	p.mu.Lock()
	closers := p.closers
	p.closers = nil
	p.mu.Unlock()
	for _, f := range closers {
		f()
	}
}

func (p *Process) onClose(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closers = append(p.closers, f)
}
