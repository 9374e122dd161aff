//go:build !unix

package listener

// Room is how many connections the process has descriptors for; 0 when that is
// not known.
func Room() int { return 0 }
