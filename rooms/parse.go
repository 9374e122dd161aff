package rooms

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// DefaultInterval is what Room.Inflow counts in when a room does not say.
const DefaultInterval = time.Second

// Parse reads a list of rooms: a JSON array of objects; blank text is an empty
// list. The error joins everything that is wrong, each with its room and member;
// beside it the set holds what could be read, and is not for use.
func Parse(text string) (*Set, error) {
	s := &Set{}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return s, fmt.Errorf("is no JSON array of objects: %w", err)
	}
	var problems []error
	if len(list) > Max {
		problems = append(problems, fmt.Errorf("has %d rooms, want at most %d", len(list), Max))
	}
	taken := map[string]bool{}
	for i, members := range list {
		r, errs := parseRoom(members)
		if r.ID != "" && taken[r.ID] {
			errs = append(errs, errors.New("id is taken by a room above"))
		}
		taken[r.ID] = true
		for _, err := range errs {
			problems = append(problems, fmt.Errorf("%s: %w", Called(i, r.ID), err))
		}
		s.rooms = append(s.rooms, r)
	}
	return s, errors.Join(problems...)
}

// Called names the room at index i of a list in an error.
func Called(i int, id string) string {
	if id == "" {
		return fmt.Sprintf("room %d", i+1)
	}
	return fmt.Sprintf("room %q", id)
}

// parseRoom reads one room past whatever is wrong with it.
func parseRoom(members map[string]json.RawMessage) (Room, []error) {
	r := Room{Interval: DefaultInterval, MaxQueue: Inherit}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(members)) {
		f, known := fields[name]
		if !known {
			problems = append(problems, fmt.Errorf("%q is no member: there are %s", name, strings.Join(slices.Sorted(maps.Keys(fields)), ", ")))
			continue
		}
		if err := f.read(&r, members[name]); err != nil {
			problems = append(problems, fmt.Errorf("%s %s: want %s: %w", name, shorten(members[name]), f.want, err))
		}
	}
	missing := func(name, fix string) {
		if _, given := members[name]; !given {
			problems = append(problems, fmt.Errorf("%s is missing: %s", name, fix))
		}
	}
	missing("id", "want "+fields["id"].want)
	missing("cap", "say how many of its page requests may be at the origin at once")
	if len(r.Hosts)+len(r.Paths) == 0 {
		problems = append(problems, errors.New("it has neither hosts nor paths: the whole site is the default room's"))
	}
	return r, problems
}

// shorten keeps a huge value from burying what is said about it.
func shorten(value json.RawMessage) json.RawMessage {
	const most = 100
	if len(value) <= most {
		return value
	}
	return append(slices.Clone(value[:most]), "..."...)
}
