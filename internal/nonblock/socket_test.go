package nonblock

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// pair returns both ends of a connection.
func pair(t *testing.T, network, address string) (near, far net.Conn) {
	t.Helper()
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	near, err = net.Dial(network, ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	far, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	return near, far
}

func tcp(t *testing.T) (near, far net.Conn) { return pair(t, "tcp", "127.0.0.1:0") }

func socketOf(conn net.Conn) *Socket {
	s := new(Socket)
	s.Of(conn)
	return s
}

// TestBytesArrive: all that is written is read, in order, whatever the size of
// the pieces, over each kind of connection.
func TestBytesArrive(t *testing.T) {
	inMemory, there := net.Pipe()
	tcpNear, tcpFar := tcp(t)
	unixNear, unixFar := pair(t, "unix", filepath.Join(t.TempDir(), "socket"))
	for name, ends := range map[string][2]net.Conn{
		"tcp": {tcpNear, tcpFar}, "unix": {unixNear, unixFar}, "no descriptor": {inMemory, there},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := socketOf(ends[0]), socketOf(ends[1])
			sent := bytes.Repeat([]byte("0123456789abcdef "), 1<<18) // 4.25 MiB: more than a kernel takes
			go func() {                                              // ends with the connection
				rest := sent
				for size := 1; len(rest) > 0; size = size*3 + 1 {
					n, err := near.Write(rest[:min(size, len(rest))])
					if err != nil || n == 0 {
						break
					}
					rest = rest[n:]
				}
				_ = ends[0].Close()
			}()
			got, err := io.ReadAll(far)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes of %d arrived, error %v", len(got), len(sent), err)
			}
		})
	}
}

// TestErrorsAreThoseOfNet: who reads or writes is told what a connection of
// package net would say.
func TestErrorsAreThoseOfNet(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, near, far net.Conn)
		use     func(*Socket) error
		want    error
	}{
		"the other end has closed":   {func(t *testing.T, _, far net.Conn) { _ = far.Close() }, read, io.EOF},
		"we have closed, reading":    {func(t *testing.T, near, _ net.Conn) { _ = near.Close() }, read, net.ErrClosed},
		"we have closed, writing":    {func(t *testing.T, near, _ net.Conn) { _ = near.Close() }, write, net.ErrClosed},
		"the time is over, reading":  {expire, read, os.ErrDeadlineExceeded},
		"the time is over, writing":  {expire, write, os.ErrDeadlineExceeded},
		"the other end has reset it": {reset, read, syscall.ECONNRESET},
		"our direction has ended":    {endOurs, write, syscall.EPIPE},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("another system's errors have other names")
			}
			near, far := tcp(t)
			c.prepare(t, near, far)
			err := c.use(socketOf(near))
			if !errors.Is(err, c.want) {
				t.Fatalf("said %v, want %v", err, c.want)
			}
			if err == io.EOF {
				return
			}
			var op *net.OpError
			if !errors.As(err, &op) || op.Op != "read" && op.Op != "write" || !strings.Contains(err.Error(), near.RemoteAddr().String()) {
				t.Errorf("said %v, which is not how package net says it", err)
			}
		})
	}
}

func read(s *Socket) error {
	n, err := s.Read(make([]byte, 10))
	if n != 0 {
		return errors.New("bytes were read")
	}
	return err
}

func write(s *Socket) error {
	_, err := s.Write([]byte("hello"))
	return err
}

func expire(t *testing.T, near, _ net.Conn) {
	if err := near.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
}

// reset has the far end go without taking leave.
func reset(t *testing.T, _, far net.Conn) {
	if err := far.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = far.Close()
}

func endOurs(t *testing.T, near, _ net.Conn) {
	if err := near.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
}

// TestWritersDoNotMix: pieces of several writers arrive whole.
func TestWritersDoNotMix(t *testing.T) {
	near, far := tcp(t)
	s := socketOf(near)
	const writers, pieces, size = 4, 50, 40 << 10
	done := make(chan error, writers)
	for w := range writers {
		go func() { // ends when all is written
			piece := bytes.Repeat([]byte{byte('a' + w)}, size)
			for range pieces {
				if _, err := s.Write(piece); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	buf := make([]byte, size)
	for range writers * pieces {
		if _, err := io.ReadFull(far, buf); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(buf, buf[:1]); n != size {
			t.Fatalf("a piece of %c has %d bytes of others", buf[0], size-n)
		}
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestEmptyPieces are no end of what is sent.
func TestEmptyPieces(t *testing.T) {
	near, _ := tcp(t)
	s := socketOf(near)
	if n, err := s.Write(nil); n != 0 || err != nil {
		t.Errorf("writing nothing: %d, %v", n, err)
	}
	if n, err := s.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
}

func TestReadingAndWritingAllocateNothing(t *testing.T) {
	near, far := tcp(t)
	a, b := socketOf(near), socketOf(far)
	buf := make([]byte, 100)
	exchange := func() {
		if _, err := a.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(b, buf); err != nil {
			t.Fatal(err)
		}
	}
	if n := allocs.PerRun(100, exchange); n != 0 {
		t.Errorf("%v allocations for a piece", n)
	}
}
