//go:build !linux

package cputime

import (
	"errors"
	"fmt"
	"time"
)

func own() (time.Duration, error) {
	return 0, fmt.Errorf("processor time: %w", errors.ErrUnsupported)
}
