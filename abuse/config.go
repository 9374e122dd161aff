package abuse

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gaissmai/bart"

	"github.com/andreimerlescu/concert/clientip"
)

// Config is what an operator decides about the registry.
type Config struct {
	// Enabled turns the registry on. While it is off nobody is struck and
	// nobody is refused; bans are kept, and run out.
	Enabled bool
	// Strikes is the total within Window that bans a client, at least 1.
	Strikes int
	// Window is how long a strike counts, above 0.
	Window time.Duration
	// Cooldown is the length of a client's first ban, above 0. Each further
	// one is twice as long as the one before, up to MaxCooldown, which is not
	// below Cooldown.
	Cooldown, MaxCooldown time.Duration
	// MaxEntries is the most clients that are tracked by what they do, at
	// least 1. An operator's bans are made regardless.
	MaxEntries int
	// Allow and Proxies are never struck and never refused; nil is nobody.
	Allow, Proxies *clientip.Trust
}

func (c Config) check() error {
	var problems []error
	positive := func(name string, n int64) {
		if n < 1 {
			problems = append(problems, fmt.Errorf("abuse: %s is not above zero", name))
		}
	}
	positive("strikes", int64(c.Strikes))
	positive("window", int64(c.Window))
	positive("cooldown", int64(c.Cooldown))
	positive("most entries", int64(c.MaxEntries))
	if c.MaxCooldown < c.Cooldown {
		problems = append(problems, fmt.Errorf("abuse: longest cooldown %v is below the first, %v", c.MaxCooldown, c.Cooldown))
	}
	return errors.Join(problems...)
}

// settings is a Config with what is made of it once.
type settings struct {
	Config
	exempt bart.Lite // Allow and Proxies
}

func newSettings(c Config) *settings {
	s := &settings{Config: c}
	for _, list := range []*clientip.Trust{c.Allow, c.Proxies} {
		for _, p := range list.Prefixes() {
			s.exempt.Insert(p)
		}
	}
	return s
}

// covers reports whether all of p is exempt by one entry.
func (s *settings) covers(p netip.Prefix) bool { return s.exempt.LookupPrefix(p) }
