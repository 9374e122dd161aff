package listener

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsent is how many bytes the kernel holds that the other side has not
// acknowledged; 0 when it does not say.
func unsent(c net.Conn) (bytes int) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // fails only on a closed connection
		bytes, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) // 0 on an error, as said
	})
	return bytes
}
