package load

import (
	"errors"
	"fmt"
	"time"
)

// Settings of a run.
type Settings struct {
	Rounds      int
	Slice       time.Duration // each target's share of a round
	Connections int           // of visitors, each with one request at a time
	Size        int           // bytes of the page
	Rate        int           // of Paced: requests a second
	Waiting     int           // of Answers: visitors in line
	Binary      string        // Concert's, as launch.Build returns it
	Self        string        // a program that plays the role its -role flag names, see Play
	Against     []string      // of Pages and Paced: other Concerts, such as the version before
	Contestants []Contestant  // see there
	// Profile, when set, is the file that a profile of Concert's processor time
	// under the load of Pages goes to, taken after the rounds; of Answers, one
	// for each kind, with its name behind a dot.
	Profile string
}

// check reports all that is wrong with s.
func (s Settings) check() error {
	var errs []error
	for _, n := range []struct {
		name       string
		value, max int
	}{
		{"rounds", s.Rounds, 1000}, {"connections", s.Connections, 10000}, {"size", s.Size, 1 << 20},
		{"rate", s.Rate, 100_000}, {"waiting", s.Waiting, 1_000_000},
	} {
		if n.value < 1 || n.value > n.max {
			errs = append(errs, fmt.Errorf("%s %d: want 1 to %d", n.name, n.value, n.max))
		}
	}
	if s.Slice < 100*time.Millisecond || s.Slice > time.Minute {
		errs = append(errs, fmt.Errorf("slice %v: want 100ms to 1m", s.Slice))
	}
	return errors.Join(errs...)
}
