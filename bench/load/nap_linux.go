package load

import (
	"syscall"
	"time"
)

// nap sleeps on the thread itself, to within some fifty microseconds.
func nap(d time.Duration) {
	if d <= 0 {
		return
	}
	left := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&left, nil) // a signal may cut it short: the request leaves that much early
}
