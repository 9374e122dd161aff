//go:build !linux

package cputime

import (
	"errors"
	"fmt"
	"time"
)

// Used returns an error that is [errors.ErrUnsupported].
func Used() (time.Duration, error) {
	return 0, fmt.Errorf("processor time: %w", errors.ErrUnsupported)
}
