// Where there is one system call for all calls of sockets, the usual way is taken.

//go:build linux && !race && !386 && !s390x

package nonblock

import (
	"syscall"
	"unsafe"
)

const available = true

// receive takes what has come, into p, which must not be empty. It returns 0
// and no error at the end of what is sent, and EAGAIN when nothing has come.
func receive(descriptor uintptr, p []byte) (int, syscall.Errno) {
	return call(syscall.SYS_RECVFROM, descriptor, p, syscall.MSG_DONTWAIT)
}

// Peek is as receive, and leaves what has come where it is.
func Peek(descriptor uintptr, p []byte) (int, syscall.Errno) {
	return call(syscall.SYS_RECVFROM, descriptor, p, syscall.MSG_DONTWAIT|syscall.MSG_PEEK)
}

// Send sends what there is room for of p, which must not be empty. It returns
// EAGAIN when there is none.
func Send(descriptor uintptr, p []byte) (int, syscall.Errno) {
	return call(syscall.SYS_SENDTO, descriptor, p, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
}

func call(trap, descriptor uintptr, p []byte, flags uintptr) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(trap, descriptor, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), flags, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
