package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// ReadPatch reads the members of a room as operators write them; interval may
// stand for interval_sec, as a duration ("10s") or a number of seconds. It goes
// past whatever is wrong and returns one problem for each such member.
func ReadPatch(members map[string]json.RawMessage) (p Patch, problems []string) {
	into := map[string]struct {
		read func(json.RawMessage) bool
		want string
	}{
		"name": {reader(&p.Name), "text"}, "inflow": {reader(&p.Inflow), "a whole number"}, "interval_sec": {reader(&p.IntervalSec), "a whole number"},
		"burst": {reader(&p.Burst), "a whole number"}, "cap": {reader(&p.Cap), "a whole number"}, "enabled": {reader(&p.Enabled), "true or false"},
		"queue_ttl_sec": {reader(&p.QueueTTLSec), "a whole number"}, "access_ttl_sec": {reader(&p.AccessTTLSec), "a whole number"},
		"audience": {reader(&p.Audience), "text"}, "target_url": {reader(&p.TargetURL), "text"},
	}
	bad := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		if name == "interval" {
			seconds, ok := readSpan(value)
			if _, both := members["interval_sec"]; both {
				bad("interval: give interval or interval_sec, not both")
			} else if !ok {
				bad(`interval %s: want whole seconds, such as 10, "10s" or "1m30s"`, shown(value))
			} else {
				p.IntervalSec = &seconds
			}
			continue
		}
		m, known := into[name]
		switch {
		case !known:
			bad("%q is no member of a room: there are %s", name, strings.Join(slices.Sorted(maps.Keys(into)), ", "))
		case !m.read(value):
			bad("%s %s: want %s", name, shown(value), m.want)
		}
	}
	return p, problems
}

// ReadRoom reads a new room: its id and any other members, the others with their
// defaults. The error is an *InvalidError of everything that is wrong.
func ReadRoom(members map[string]json.RawMessage) (Room, error) {
	r := DefaultRoom()
	rest := maps.Clone(members)
	delete(rest, "id")
	p, problems := ReadPatch(rest)
	if raw, given := members["id"]; given && json.Unmarshal(raw, &r.ID) != nil {
		problems = append(problems, fmt.Sprintf("id %s: want text", shown(raw)))
	}
	r, _ = p.Apply(r)
	r = r.Complete()
	return r, r.CheckWith(problems)
}

// shown is a value in a message, unless it is a long one.
func shown(value json.RawMessage) string {
	if len(value) > 60 {
		return string(value[:60]) + "…"
	}
	return string(value)
}

// reader reads a value for a member; null leaves it as it is.
func reader[T any](to **T) func(json.RawMessage) bool {
	return func(value json.RawMessage) bool {
		var v *T
		if json.Unmarshal(value, &v) != nil {
			return false
		}
		*to = v
		return true
	}
}

// readSpan reads a time in whole seconds.
func readSpan(value json.RawMessage) (seconds int, ok bool) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		d, err := time.ParseDuration(text)
		return int(d / time.Second), err == nil && d%time.Second == 0
	}
	var n float64
	if json.Unmarshal(value, &n) != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		return 0, false
	}
	return int(n), true
}

// CheckWith is Check with problems that were found before; all are told at once.
func (r *Room) CheckWith(problems []string) error {
	err := r.Check()
	if invalid, ok := err.(*InvalidError); ok {
		problems = append(problems, invalid.Problems...)
	} else if err != nil {
		return err
	}
	if len(problems) == 0 {
		return nil
	}
	return &InvalidError{problems}
}
