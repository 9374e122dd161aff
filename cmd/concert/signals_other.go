//go:build !unix

package main

import (
	"os"
	"syscall"
)

// handledSignals are those that do not end the program.
func handledSignals() []os.Signal { return []os.Signal{syscall.SIGHUP} }

// isUpgrade is false where no process can take over.
func isUpgrade(os.Signal) bool { return false }
