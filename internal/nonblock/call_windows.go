package nonblock

import "syscall"

const available = false

// receive says that it cannot be done here.
func receive(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.ENOTSUP }

// Peek says that it cannot be done here.
func Peek(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.ENOTSUP }

// Send says that it cannot be done here.
func Send(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.ENOTSUP }
