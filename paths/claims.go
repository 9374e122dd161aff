package paths

import "fmt"

// claims says which lists patterns are in, by their text in lower case.
type claims map[pattern][]claim

// claim is a pattern of a list, as written.
type claim struct {
	pattern
	list   string
	strict bool
}

// take notes c, unless another claim stands in the way. Strict rules are met
// whatever the capitals, so there a pattern in other capitals is the same one.
func (cs claims) take(c claim) error {
	if c.strict && c.pattern == (pattern{path: "/"}) {
		return fmt.Errorf("%s: %q is the site's front page: remove it", c.list, c.pattern)
	}
	for _, before := range cs[c.lower()] {
		switch same := before.pattern == c.pattern; {
		case same && before.list == c.list:
			return fmt.Errorf("%s: %q is listed twice: remove one of them", c.list, c.pattern)
		case same:
			return fmt.Errorf("%s: %q is also in %s: remove it from one of them", c.list, c.pattern, before.list)
		case before.strict != c.strict:
			return fmt.Errorf("%s: %q is also in %s, as %q, and bans look at no capitals: remove it from one of them", c.list, c.pattern, before.list, before.pattern)
		}
	}
	cs[c.lower()] = append(cs[c.lower()], c)
	return nil
}

// has reports whether some list has p, in whatever capitals.
func (cs claims) has(p pattern) bool { return len(cs[p.lower()]) > 0 }
