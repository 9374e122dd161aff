//go:build !linux

package load

import (
	"errors"
	"fmt"
	"time"
)

// ProcessorTime is not to be had.
func ProcessorTime(int) (time.Duration, error) {
	return 0, fmt.Errorf("processor time of a process: %w", errors.ErrUnsupported)
}
