package load

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ProcessorTime returns what a process has used, user and system together, to
// the nanosecond: each process has a clock of its own (clock_getcpuclockid(3),
// whose result is put together here).
func ProcessorTime(pid int) (time.Duration, error) {
	const scheduled = 2 // the clock of time that the scheduler gave
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &used); err != nil {
		return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}
