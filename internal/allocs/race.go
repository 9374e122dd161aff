//go:build race

package allocs

// racing says whether the race detector is on.
const racing = true
