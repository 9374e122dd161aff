package drain

import (
	"errors"
	"fmt"
	"time"
)

// Scenario is a crowd and the site it comes to.
type Scenario struct {
	Name     string        `json:"name"`
	Visitors int           `json:"visitors"`
	Arrival  time.Duration `json:"arrival_ns"` // they arrive evenly within this
	Poll     time.Duration `json:"poll_ns"`    // pause between polls; 0: as the answers say
	Abandon  float64       `json:"abandon"`    // share that leaves at the sight of the line, 0 to 1
	Latency  time.Duration `json:"latency_ns"` // the origin's time for a page
	Cap      int           `json:"cap"`
	Timeout  time.Duration `json:"timeout_ns"` // end of the whole run
	Seed     uint64        `json:"seed"`       // of who leaves and of the polls' jitter

	// Want is the utilisation to reach, 0 for no demand.
	Want float64 `json:"want_utilisation"`
}

// Presets are the crowds that Concert is measured by.
func Presets() []Scenario {
	short := Scenario{Visitors: 2000, Arrival: time.Second, Latency: 50 * time.Millisecond, Want: 0.94}
	long := Scenario{Visitors: 3000, Arrival: 5 * time.Second, Latency: 250 * time.Millisecond, Want: 0.97}
	leaving := long
	leaving.Abandon, leaving.Want = 0.3, 0.95
	return []Scenario{
		short.preset("A", time.Second),
		long.preset("B1", time.Second),
		long.preset("B3", 3*time.Second),
		leaving.preset("C1", time.Second),
		leaving.preset("C3", 3*time.Second),
	}
}

func (s Scenario) preset(name string, poll time.Duration) Scenario {
	s.Name, s.Poll, s.Cap, s.Timeout, s.Seed = name, poll, 50, 5*time.Minute, 1
	return s
}

// Preset returns the preset of that name.
func Preset(name string) (Scenario, error) {
	for _, s := range Presets() {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("no preset %q: want A, B1, B3, C1 or C3", name)
}

// Check reports every value that is out of bounds.
func (s Scenario) Check() error {
	var problems []error
	bounds := func(ok bool, format string, value any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, value))
		}
	}
	bounds(s.Visitors >= 1 && s.Visitors <= 20_000, "visitors %v: want 1 to 20000", s.Visitors)
	bounds(s.Arrival >= 0 && s.Arrival <= time.Minute, "arrival %v: want 0 to 1m", s.Arrival)
	bounds(s.Poll == 0 || s.Poll >= 10*time.Millisecond, "poll %v: want 0, or 10ms or more", s.Poll)
	bounds(s.Abandon >= 0 && s.Abandon < 1, "abandon %v: want 0 to less than 1", s.Abandon)
	bounds(s.Latency >= time.Millisecond, "latency %v: want 1ms or more", s.Latency)
	bounds(s.Cap >= 1, "cap %v: want 1 or more", s.Cap)
	bounds(s.Timeout > 0 && s.Timeout <= 10*time.Minute, "timeout %v: want up to 10m", s.Timeout)
	return errors.Join(problems...)
}
