package skip

// recent is a map that forgets the oldest of more than MaxSales entries. Its
// zero value is ready for use.
type recent[K comparable, V any] struct {
	entries map[K]V
	order   []K // oldest first
}

func (m *recent[K, V]) get(k K) (V, bool) {
	v, ok := m.entries[k]
	return v, ok
}

func (m *recent[K, V]) put(k K, v V) {
	if m.entries == nil {
		m.entries = make(map[K]V)
	}
	if _, known := m.entries[k]; !known {
		m.order = append(m.order, k)
	}
	m.entries[k] = v
	if len(m.order) > MaxSales {
		m.pop()
	}
}

// dropOldest forgets entries from the oldest on, as long as they are over.
func (m *recent[K, V]) dropOldest(over func(V) bool) {
	for len(m.order) > 0 && over(m.entries[m.order[0]]) {
		m.pop()
	}
}

func (m *recent[K, V]) pop() {
	delete(m.entries, m.order[0])
	m.order = m.order[1:]
}
