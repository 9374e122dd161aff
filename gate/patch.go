package gate

import (
	"fmt"
	"strconv"

	"github.com/andreimerlescu/concert/persist"
)

// Patch is a change of a room; nil leaves a value as it is. The JSON names are
// those of Room.
type Patch struct {
	Name         *string `json:"name"`
	Inflow       *int    `json:"inflow"`
	IntervalSec  *int    `json:"interval_sec"`
	Burst        *int    `json:"burst"`
	Cap          *int    `json:"cap"`
	Enabled      *bool   `json:"enabled"`
	QueueTTLSec  *int    `json:"queue_ttl_sec"`
	AccessTTLSec *int    `json:"access_ttl_sec"`
	Audience     *string `json:"audience"`
	TargetURL    *string `json:"target_url"`
}

// Apply returns r with the change, and what differs by it.
func (p *Patch) Apply(r Room) (Room, []persist.ActChange) {
	before := r
	set(&r.Name, p.Name)
	set(&r.Inflow, p.Inflow)
	set(&r.IntervalSec, p.IntervalSec)
	set(&r.Burst, p.Burst)
	set(&r.Cap, p.Cap)
	set(&r.Enabled, p.Enabled)
	set(&r.QueueTTLSec, p.QueueTTLSec)
	set(&r.AccessTTLSec, p.AccessTTLSec)
	set(&r.Audience, p.Audience)
	set(&r.TargetURL, p.TargetURL)
	return r, Changes(before, r)
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// Changes lists what differs between two states of a room, for the audit.
func Changes(a, b Room) []persist.ActChange {
	var changes []persist.ActChange
	note := func(key, from, to string) {
		if from != to {
			changes = append(changes, persist.ActChange{Key: key, From: from, To: to})
		}
	}
	number := func(key string, from, to int) { note(key, strconv.Itoa(from), strconv.Itoa(to)) }
	note("name", a.Name, b.Name)
	number("inflow", a.Inflow, b.Inflow)
	number("interval_sec", a.IntervalSec, b.IntervalSec)
	number("burst", a.Burst, b.Burst)
	number("cap", a.Cap, b.Cap)
	note("enabled", fmt.Sprint(a.Enabled), fmt.Sprint(b.Enabled))
	number("queue_ttl_sec", a.QueueTTLSec, b.QueueTTLSec)
	number("access_ttl_sec", a.AccessTTLSec, b.AccessTTLSec)
	note("audience", a.Audience, b.Audience)
	note("target_url", a.TargetURL, b.TargetURL)
	return changes
}
