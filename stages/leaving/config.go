package leaving

import (
	"fmt"
	"time"
)

// Config is what the stage is made of.
type Config struct {
	// Linger is how long connections stay open that may bring another request,
	// after another process has taken over; not negative.
	Linger time.Duration
}

func (c Config) check() error {
	if c.Linger < 0 {
		return fmt.Errorf("leaving: connections linger for %v: must not be negative", c.Linger)
	}
	return nil
}
