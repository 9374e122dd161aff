package rawtest

import (
	"testing"
	"time"
)

// longestPause is the longest between two looks of Until: what it asks has work
// to do meanwhile.
const longestPause = 20 * time.Millisecond

// Until waits for a condition on the far side of a socket, which no test can
// be told of, and fails the test when it does not come within Patience.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	pause := time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for deadline := time.Now().Add(Patience); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("rawtest: waited in vain: %s", what)
		}
		if pause < longestPause {
			pause = min(pause*5/4, longestPause)
			tick.Reset(pause)
		}
	}
}
