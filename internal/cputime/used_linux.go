package cputime

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Used returns what this process has used of the processors since it began.
func Used() (time.Duration, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used); err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	return time.Duration(used.Nano()), nil
}
