//go:build unix

package redistest

import "syscall"

const stopSignal, goOnSignal = syscall.SIGSTOP, syscall.SIGCONT
