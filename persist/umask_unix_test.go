//go:build unix

package persist

import "syscall"

// setUmask returns the mask before.
func setUmask(mask int) int { return syscall.Umask(mask) }
