package rooms

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrUnknown is the error of a room that is not in the list.
var ErrUnknown = errors.New("there is no such room")

// ErrTaken is the error of an id that a room of the list has.
var ErrTaken = errors.New("there is such a room already")

// With returns the list as JSON, for Parse to judge, with some members of one
// room changed; null takes a member's default. With add, the room is a new one
// at the end. The error wraps ErrUnknown or ErrTaken.
func (s *Set) With(id string, members map[string]json.RawMessage, add bool) (json.RawMessage, error) {
	list := make([]map[string]json.RawMessage, 0, len(s.All())+1)
	var at map[string]json.RawMessage
	for i := range s.All() {
		one := s.rooms[i].members()
		if s.rooms[i].ID == id {
			at = one
		}
		list = append(list, one)
	}
	switch {
	case add && at != nil:
		return nil, fmt.Errorf("room %q: %w", id, ErrTaken)
	case !add && at == nil:
		return nil, fmt.Errorf("room %q: %w", id, ErrUnknown)
	case add:
		at = map[string]json.RawMessage{}
		list = append(list, at)
	}
	maps.Copy(at, members)
	maps.DeleteFunc(at, func(_ string, value json.RawMessage) bool { return string(value) == "null" })
	return json.Marshal(list)
}

// Without returns the list as JSON without a room. The error wraps ErrUnknown.
func (s *Set) Without(id string) (json.RawMessage, error) {
	if s.Get(id) == nil {
		return nil, fmt.Errorf("room %q: %w", id, ErrUnknown)
	}
	rest := Set{rooms: slices.DeleteFunc(slices.Clone(s.rooms), func(r Room) bool { return r.ID == id })}
	if rest.Empty() {
		return json.RawMessage("[]"), nil
	}
	return json.RawMessage(rest.String()), nil
}

// members is a room by its members' names.
func (r *Room) members() map[string]json.RawMessage {
	text, err := json.Marshal(r.wire())
	var out map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic("BUG: a room is no JSON: " + err.Error())
	}
	return out
}

// Change is a member of a room that differs between two lists.
type Change struct{ Key, From, To string }

// Changes are the differences of one room between two lists, as Set.String gives
// them; one of the two may not have it. What is no list counts as an empty one.
func Changes(from, to, id string) []Change {
	members := func(text string) map[string]json.RawMessage {
		s, err := Parse(text)
		if err != nil || s.Get(id) == nil {
			return nil
		}
		return s.Get(id).members()
	}
	a, b := members(from), members(to)
	keys := maps.Clone(a)
	if keys == nil {
		keys = map[string]json.RawMessage{}
	}
	maps.Copy(keys, b)
	var out []Change
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if string(a[key]) != string(b[key]) {
			out = append(out, Change{key, plain(a[key]), plain(b[key])})
		}
	}
	return out
}

// plain is a value without the quotes of JSON.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
