//go:build unix && (!linux || race || 386 || s390x)

package nonblock

import "syscall"

const available = false

// receive takes what has come, into p, which must not be empty. It returns 0
// and no error at the end of what is sent, and EAGAIN when nothing has come.
func receive(descriptor uintptr, p []byte) (int, syscall.Errno) {
	return result(syscall.Read(int(descriptor), p)) // Go's descriptors never wait
}

// Peek is as receive, and leaves what has come where it is.
func Peek(descriptor uintptr, p []byte) (int, syscall.Errno) {
	n, _, err := syscall.Recvfrom(int(descriptor), p, syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return result(n, err)
}

// Send sends what there is room for of p, which must not be empty. It returns
// EAGAIN when there is none.
func Send(descriptor uintptr, p []byte) (int, syscall.Errno) {
	return result(syscall.Write(int(descriptor), p)) // as above
}

func result(n int, err error) (int, syscall.Errno) {
	if err == nil {
		return n, 0
	}
	errno, ok := err.(syscall.Errno)
	if !ok {
		errno = syscall.EIO
	}
	return max(n, 0), errno
}
