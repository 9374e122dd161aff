package ports

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// several is the variable that has this binary reserve that many ports, print
// them, and hold them until its input ends.
const several = "RESERVE_PORTS"

func TestMain(m *testing.M) {
	n, err := strconv.Atoi(os.Getenv(several))
	if err != nil {
		os.Exit(m.Run())
	}
	for range n {
		port, _, err := Reserve()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(port)
	}
	runtime.GC()                                // what is reserved stays so, though nothing here refers to it
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // its end is all that is waited for
}

// TestReserve: a port is nobody's, not the system's to hand out, and no two
// goroutines get the same.
func TestReserve(t *testing.T) {
	from := systemFrom()
	var mu sync.Mutex // guards seen
	seen := map[int]bool{}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			port, release, err := Reserve()
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			if port >= from || port < lowest {
				t.Errorf("port %d is not below those that the system hands out from %d on", port, from)
			}
			if !free(port) {
				t.Errorf("port %d is not free", port)
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[port] {
				t.Errorf("port %d was handed out twice", port)
			}
			seen[port] = true
		})
	}
	all.Wait()
}

// TestFree: neither a listener nor a UDP socket is overlooked, on the loopback
// or on all addresses.
func TestFree(t *testing.T) {
	for _, host := range []string{"127.0.0.1", ""} {
		port, release, err := Reserve()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		address := net.JoinHostPort(host, strconv.Itoa(port))
		tcp, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if free(port) {
			t.Errorf("somebody listens on %s, and it is called free", address)
		}
		_ = tcp.Close()
		udp, err := net.ListenPacket("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		if free(port) {
			t.Errorf("somebody has %s over UDP, and it is called free", address)
		}
		_ = udp.Close()
		if !free(port) {
			t.Errorf("%s is free again, and is called taken", address)
		}
	}
}

// TestHeldAcrossProcesses: what one process has reserved is no other's, until
// it ends, even by a signal that it cannot see.
func TestHeldAcrossProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a process cannot be told of another's ports here")
	}
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), several+"=20")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var theirs []int
	for lines := bufio.NewScanner(out); len(theirs) < 20 && lines.Scan(); {
		port, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, port)
	}
	if len(theirs) != 20 {
		t.Errorf("the other process reserved %d ports", len(theirs))
	}
	for _, port := range theirs {
		if lock, err := hold(port); err == nil {
			_ = lock.Close()
			t.Errorf("port %d is the other process's, and can be had", port)
		}
	}
	_ = other.Process.Kill()
	_ = other.Wait() // it was killed
	for _, port := range theirs {
		lock, err := hold(port)
		if err != nil {
			t.Errorf("the other process is gone, and port %d is still its: %v", port, err)
			continue
		}
		_ = lock.Close()
	}
}
