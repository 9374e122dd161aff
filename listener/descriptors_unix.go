//go:build unix

package listener

import "syscall"

// spareFiles are left for files, the origin's idle connections and the like.
const spareFiles = 128

// Room is how many connections the process has descriptors for, when each may
// need another one to the origin; 0 when that is not known.
func Room() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	const most = 1 << 24 // beyond that it says "unlimited"
	return max(64, (int(min(uint64(limit.Cur), most))-spareFiles)/2)
}
