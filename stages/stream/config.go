package stream

import (
	"fmt"
	"time"
)

// What a client is told in Retry-After when every slot is taken, in whole
// seconds spread evenly from MinRetry to MaxRetry.
const (
	MinRetry = 5 * time.Second
	MaxRetry = 15 * time.Second
)

// Config is what the stage is made of.
type Config struct {
	Cap int // streams open at once, at least 1
}

func (c Config) check() error {
	if c.Cap < 1 {
		return fmt.Errorf("stream: the cap is %d: want at least 1", c.Cap)
	}
	return nil
}
