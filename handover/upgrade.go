package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Upgrade starts a successor and hands over to it. When it returns nil the
// successor serves, and this process should drain and exit; its listeners
// accept nothing any more. On an error everything is as before, and no
// successor runs.
//
// ctx bounds the whole: a successor that is not done in time is killed.
func (p *Process) Upgrade(ctx context.Context, plan Plan) error {
	p.mu.Lock()
	if p.upgrading {
		p.mu.Unlock()
		return errors.New("handover: an upgrade is under way")
	}
	p.upgrading = true
	p.mu.Unlock()
	err := p.upgrade(ctx, plan)
	if err != nil {
		p.mu.Lock()
		p.upgrading = false
		p.mu.Unlock()
		return fmt.Errorf("handover: %w", err)
	}
	return nil
}

func (p *Process) upgrade(ctx context.Context, plan Plan) error {
	child, err := p.start(plan.Files)
	if err != nil {
		return fmt.Errorf("start the successor: %w", err)
	}
	defer child.peer.until(ctx)()
	if err := child.peer.awaitReady(); err != nil {
		return fmt.Errorf("the successor did not get ready: %w", errors.Join(err, child.kill()))
	}
	err = p.Pause(ctx)
	if err == nil {
		err = hand(ctx, child.peer, plan)
	}
	if err != nil {
		err = errors.Join(err, child.kill()) // before anybody is let in here again
		plan.Thaw()
		p.resume()
		return fmt.Errorf("the successor did not take over: %w", err)
	}
	p.leave()
	// systemd refusing to listen does not stop a successor that serves.
	_ = p.tell(fmt.Sprintf("MAINPID=%d\nREADY=1", child.pid))
	done := make(chan struct{})
	p.onClose(sync.OnceFunc(func() { close(done); child.peer.close() }))
	go report(child.peer, plan.InFlight, done) // ends with Close, or the successor
	return nil
}

// hand freezes this process and gives its state away.
func hand(ctx context.Context, to *peer, plan Plan) error {
	state, err := plan.Freeze(ctx)
	if err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	return to.hand(Handed{state, plan.InFlight()})
}

// reportEvery is how often what is in flight is looked at during the drain.
const reportEvery = 10 * time.Millisecond

// report tells the successor what is in flight whenever it changes. It ends
// with done, or when the successor is gone.
func report(to *peer, inFlight func() InFlight, done <-chan struct{}) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	last := InFlight{Pages: -1}
	for {
		if n := inFlight(); !n.equal(last) {
			if to.sendInFlight(n) != nil {
				return
			}
			last = n
		}
		select {
		case <-done:
			return
		case <-tick.C:
		}
	}
}

// leave has sockets in the file system outlive this process's end of them.
func (p *Process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		if u, ok := l.Listener.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false)
		}
	}
}

// Pause stops all listeners from accepting, and waits until the servers know
// of every connection that was accepted: what should precede any shutdown.
// Connections wait in the kernel until the listeners are closed.
func (p *Process) Pause(ctx context.Context) error {
	p.mu.Lock()
	var quiet []<-chan struct{}
	for _, l := range p.listeners {
		if c := l.pause(true); c != nil {
			quiet = append(quiet, c)
		}
	}
	p.mu.Unlock()
	for _, c := range quiet {
		select {
		case <-c:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// resume lets all listeners go on.
func (p *Process) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		l.pause(false)
	}
}
