//go:build !unix

package persist

// setUmask does nothing: there is none.
func setUmask(int) int { return 0 }
