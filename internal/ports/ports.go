package ports

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
)

const (
	// lowest is the first port handed out: above those of most services.
	lowest = 10240
	// usualFrom is the first port that a system hands out by itself where this
	// one does not say which that is: Linux begins here, others later.
	usualFrom = 32768
	// rangeFile holds what this system hands out by itself, on Linux.
	rangeFile = "/proc/sys/net/ipv4/ip_local_port_range"
)

var (
	mu sync.Mutex // guards given
	// given has every port this process has been given, with what holds it: a
	// socket that nothing refers to is closed by the garbage collector.
	given = map[int]io.Closer{}
)

// Reserve returns a port that is this process's own until release is called,
// which may be done more than once. The error tells that no port is free.
func Reserve() (port int, release func(), err error) {
	mu.Lock()
	defer mu.Unlock()
	all := candidates()
	for _, i := range rand.Perm(len(all)) {
		port := all[i]
		if given[port] != nil {
			continue
		}
		lock, err := hold(port)
		if err != nil {
			continue // another process has it
		}
		if !free(port) {
			_ = lock.Close()
			continue
		}
		given[port] = lock
		return port, func() { _ = lock.Close() }, nil
	}
	return 0, nil, fmt.Errorf("reserve a port of the loopback: none of %d is free", len(all))
}

// candidates are the ports below the range of the system. Where these are few,
// those at its lower end are taken as well: better than none.
func candidates() []int {
	const few = 1000
	from := systemFrom()
	var below []int
	for port := lowest; port < from || len(below) < few; port++ {
		below = append(below, port)
	}
	return below
}

// systemFrom is the first port that the system hands out by itself.
func systemFrom() int {
	var from int
	text, err := os.ReadFile(rangeFile)
	if err != nil {
		return usualFrom
	}
	if n, err := fmt.Sscan(string(text), &from); n != 1 || err != nil {
		return usualFrom
	}
	return from
}

// free reports whether nobody has the port, over TCP or UDP.
func free(port int) bool {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	_ = tcp.Close() // was only asked whether it can be had
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	_ = udp.Close() // likewise
	return true
}
