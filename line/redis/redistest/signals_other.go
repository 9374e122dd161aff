//go:build !unix

package redistest

import "os"

// Processes cannot be stopped for a while here; the test that asks is told.
var stopSignal, goOnSignal os.Signal = os.Interrupt, os.Interrupt
