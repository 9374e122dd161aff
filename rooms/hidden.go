package rooms

import (
	"strings"

	"github.com/andreimerlescu/concert/paths"
)

// Behind returns the id of the room that gets all requests of the i-th of the
// list, as it stands before it; "" when requests reach that room. It tries one
// request of each host and pattern, so a room that several share is not found.
func (s *Set) Behind(i int) string {
	for k := range s.rooms[:i] {
		if s.rooms[k].covers(&s.rooms[i]) {
			return s.rooms[k].ID
		}
	}
	return ""
}

// covers reports whether a request of each host and path of b would be a's.
func (a *Room) covers(b *Room) bool {
	for _, host := range orElse(b.Hosts, "a-host-in-no-list.invalid") {
		for _, path := range orElse(b.Paths, "/a-path-in-no-list") {
			sample := paths.Canonical(strings.Replace(path, "*", "in-no-list", 1))
			if !a.has(strings.Replace(host, "*", "in-no-list", 1), sample) {
				return false
			}
		}
	}
	return true
}

// orElse is the list, or what stands for everything where it is empty.
func orElse(list []string, everything string) []string {
	if len(list) == 0 {
		return []string{everything}
	}
	return list
}
