package paths

import (
	"errors"
	"strings"
)

// List is one list of patterns: entries such as `/css/*` (everything below
// `/css/`) and `/favicon.ico` (that path alone), with a common value.
type List[V comparable] struct {
	Name    string // the flag it came from, for errors: "-assets"
	Entries string // comma-separated, as the operator wrote them
	Value   V

	// Strict rules are met when any reading of a path meets them, whatever the
	// capitals, with or without a trailing slash, and `/x/*` by `/x` too.
	// Rules that are not strict need all readings, and match exactly.
	Strict bool
}

// Table finds the list a path is in. The zero Table has no lists.
type Table[V comparable] struct {
	written  index[V] // patterns as written
	folded   index[V] // in lower case, to find strict ones in any spelling
	strict   bool     // some list is
	capitals bool     // some pattern has them, so the two indexes differ
}

// rule is what a pattern stands for.
type rule[V comparable] struct {
	value  V
	strict bool
}

// Build makes a table. An exact entry may lie inside a prefix, also of another
// list: the longest match wins. The error joins one error for every bad entry,
// naming the list, the entry and the remedy; a pattern given twice has one.
func Build[V comparable](lists ...List[V]) (*Table[V], error) {
	t := &Table[V]{}
	var problems []error
	claimed := make(claims)
	parsed := make([][]pattern, len(lists))
	for i, l := range lists {
		patterns, bad := parsePatterns(l.Name, l.Entries)
		problems = append(problems, bad...)
		parsed[i] = patterns
		told := make(map[pattern]bool)
		for _, p := range patterns {
			if err := claimed.take(claim{p, l.Name, l.Strict}); err != nil {
				if !told[p] {
					problems = append(problems, err)
				}
				told[p] = true
				continue
			}
			t.add(p, rule[V]{l.Value, l.Strict})
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	for i, l := range lists {
		if l.Strict {
			t.addTwins(parsed[i], claimed, rule[V]{l.Value, true})
		}
	}
	return t, nil
}

// add puts p into both indexes. Patterns that differ in their capitals only are
// all strict or all not: see claims.
func (t *Table[V]) add(p pattern, r rule[V]) {
	t.written.add(p, r)
	folded := p.lower()
	t.folded.add(folded, r)
	t.strict = t.strict || r.strict
	t.capitals = t.capitals || folded != p
}

// addTwins makes the strict rule r take `/x/` along with `/x`, and `/x` along
// with `/x/` and `/x/*`, unless they are listed by themselves.
func (t *Table[V]) addTwins(patterns []pattern, claimed claims, r rule[V]) {
	for _, p := range patterns {
		twin := pattern{path: strings.TrimSuffix(p.path, "/")}
		if twin.path == p.path {
			twin.path += "/"
		}
		if !claimed.has(twin) && !claimed.has(pattern{twin.path, true}) {
			t.add(twin, r)
		}
	}
}

// Lookup returns the value of the list p is in: of a strict one if any reading
// of p is in it, else of the one that all readings are in. A [Crafted] path is
// in strict lists only, and an [Unreadable] one in none.
func (t *Table[V]) Lookup(p Path) (value V, listed bool) {
	if p.readings == nil {
		r, ok := t.find(p.Clean, p.upper) // one reading: nothing crafted about it
		return r.value, ok
	}
	var common rule[V]
	agreed := p.Kind != Crafted
	for i, reading := range p.readings {
		r, ok := t.find(reading, p.upper)
		if ok && r.strict {
			return r.value, true
		}
		if i == 0 {
			common = r
		}
		agreed = agreed && ok && r == common
	}
	if !agreed {
		return value, false
	}
	return common.value, true
}

// find returns the rule for one reading.
func (t *Table[V]) find(reading string, upper bool) (rule[V], bool) {
	r, ok := find(&t.written, reading)
	if ok && r.strict || !t.strict || !upper && !t.capitals {
		return r, ok
	}
	var buf [maxPattern + 2]byte // a longest twin, and one more to tell longer ones
	folded := buf[:min(len(reading), len(buf))]
	for i := range folded {
		c := reading[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		folded[i] = c
	}
	if s, found := find(&t.folded, folded); found && s.strict {
		return s, true
	}
	return r, ok
}
