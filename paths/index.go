package paths

// index holds patterns by their text. A look-up costs one probe for each
// length at which a pattern could end, and most paths have none.
type index[V comparable] struct {
	exact, prefix       map[string]rule[V]
	exactLen, prefixLen lengths
	longestPrefix       int
}

func (ix *index[V]) add(p pattern, r rule[V]) {
	if ix.exact == nil {
		ix.exact, ix.prefix = make(map[string]rule[V]), make(map[string]rule[V])
	}
	if p.prefix {
		ix.prefix[p.path] = r
		ix.prefixLen.add(len(p.path))
		ix.longestPrefix = max(ix.longestPrefix, len(p.path))
		return
	}
	ix.exact[p.path] = r
	ix.exactLen.add(len(p.path))
}

// find returns the rule of the longest pattern s meets. It takes bytes as well
// as strings, because converting one to the other would allocate.
func find[V comparable, S string | []byte](ix *index[V], s S) (rule[V], bool) {
	if ix.exactLen.has(len(s)) {
		if r, ok := ix.exact[string(s)]; ok {
			return r, true
		}
	}
	for n := min(len(s), ix.longestPrefix); n > 0; n-- {
		if s[n-1] == '/' && ix.prefixLen.has(n) {
			if r, ok := ix.prefix[string(s[:n])]; ok {
				return r, true
			}
		}
	}
	var none rule[V]
	return none, false
}

// lengths is a set of lengths up to maxPattern and its twin's slash.
type lengths [(maxPattern + 1 + 64) / 64]uint64

func (l *lengths) add(n int) { l[n/64] |= 1 << (n % 64) }

func (l *lengths) has(n int) bool {
	return n < len(l)*64 && l[n/64]&(1<<(n%64)) != 0
}
