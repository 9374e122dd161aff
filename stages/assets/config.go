package assets

import (
	"errors"
	"fmt"
	"time"
)

// Caps are the numbers of asset requests let through at once, each at least 1.
type Caps struct {
	UserH1 int // per pass over HTTP/1.x
	UserH2 int // per pass over HTTP/2 and later
	Global int // altogether, public assets included
}

// Config is what the stage is made of.
type Config struct {
	Caps
	// UserWait and GlobalWait are the longest a request waits for a slot of
	// its pass's pool and of the global one; 0 refuses at once.
	UserWait, GlobalWait time.Duration
	// IdleTTL is how long a pass's pool is kept after its last use, above 0.
	// Shorter than the life of a pass is pointless but harmless.
	IdleTTL time.Duration
}

// check reports every value the stage cannot work with.
func (c Config) check() error {
	var problems []error
	reject := func(bad bool, name string, value any, want string) {
		if bad {
			problems = append(problems, fmt.Errorf("assets: %s is %v: want %s", name, value, want))
		}
	}
	reject(c.UserH1 < 1, "the HTTP/1 cap per pass", c.UserH1, "at least 1")
	reject(c.UserH2 < 1, "the HTTP/2 cap per pass", c.UserH2, "at least 1")
	reject(c.Global < 1, "the global cap", c.Global, "at least 1")
	reject(c.UserWait < 0, "the wait per pass", c.UserWait, "0 or more")
	reject(c.GlobalWait < 0, "the global wait", c.GlobalWait, "0 or more")
	reject(c.IdleTTL <= 0, "the idle time", c.IdleTTL, "more than 0")
	return errors.Join(problems...)
}
