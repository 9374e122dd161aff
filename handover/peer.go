package handover

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// protocol is the version of what the two processes say to each other. A
// successor that speaks another is refused, and the service goes on.
const protocol = "1"

// A frame is a byte that says what it is, the length of its content in four
// bytes, big-endian, and the content.
const (
	kindReady    = 'r' // successor: the protocol's version
	kindInFlight = 'n' // predecessor: an InFlight as JSON
	kindState    = 's' // predecessor
	kindServing  = 'v' // successor: nothing
)

// maxFrame bounds a frame's content, in bytes.
const maxFrame = 1 << 30

// peer is the other process. One goroutine at a time may send, and one may
// receive.
type peer struct {
	conn net.Conn
	in   *bufio.Reader

	sending sync.Mutex // guards writes to conn: a frame goes out in one piece
}

func newPeer(c net.Conn) *peer { return &peer{conn: c, in: bufio.NewReader(c)} }

func (p *peer) close() { _ = p.conn.Close() } // the other one notices

// until breaks off what is under way when ctx ends. stop ends that.
func (p *peer) until(ctx context.Context) (stop func()) {
	undo := context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Unix(1, 0)) })
	return func() { undo() }
}

func (p *peer) send(kind byte, content []byte) error {
	if len(content) > maxFrame {
		return fmt.Errorf("%d bytes are too many to hand over", len(content))
	}
	p.sending.Lock()
	defer p.sending.Unlock()
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(content)))
	if _, err := p.conn.Write(head); err != nil || len(content) == 0 {
		return err
	}
	_, err := p.conn.Write(content)
	return err
}

func (p *peer) sendInFlight(n InFlight) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return p.send(kindInFlight, text)
}

// receive reads a frame of the kind.
func (p *peer) receive(kind byte) ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("the other process ended")
		}
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[1:])
	if head[0] != kind || length > maxFrame {
		return nil, fmt.Errorf("got a message %q of %d bytes, want %q", head[0], length, kind)
	}
	content, err := io.ReadAll(io.LimitReader(p.in, int64(length)))
	if err == nil && len(content) < int(length) {
		err = errors.New("the other process ended in the middle of a message")
	}
	return content, err
}

func (p *peer) inFlight() (InFlight, error) {
	var n InFlight
	text, err := p.receive(kindInFlight)
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	return n, err
}

// awaitReady is the predecessor's wait for the successor.
func (p *peer) awaitReady() error {
	version, err := p.receive(kindReady)
	if err == nil && string(version) != protocol {
		err = fmt.Errorf("it speaks version %q, not %s", version, protocol)
	}
	return err
}

// hand is the predecessor's giving, and waiting until the successor serves.
func (p *peer) hand(h Handed) error {
	if err := p.sendInFlight(h.InFlight); err != nil {
		return err
	}
	if err := p.send(kindState, h.State); err != nil {
		return err
	}
	_, err := p.receive(kindServing)
	return err
}

// takeOver is the successor's part of the same.
func (p *peer) takeOver() (Handed, error) {
	if err := p.send(kindReady, []byte(protocol)); err != nil {
		return Handed{}, err
	}
	n, err := p.inFlight()
	if err != nil {
		return Handed{}, err
	}
	state, err := p.receive(kindState)
	return Handed{state, n}, err
}
