//go:build unix

package main

import (
	"os"
	"syscall"
)

// handledSignals are those that do not end the program.
func handledSignals() []os.Signal { return []os.Signal{syscall.SIGHUP, syscall.SIGUSR2} }

// isUpgrade tells SIGUSR2 from SIGHUP.
func isUpgrade(s os.Signal) bool { return s == syscall.SIGUSR2 }
