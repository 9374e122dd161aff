package abuse

import "time"

// EventKind says what happened to a client's record.
type EventKind uint8

// The kinds of events.
const (
	// Banned: Ban is new. Before is the running ban it replaces, if any.
	Banned EventKind = iota
	// Ended: Ban ran out. A client's record stays, so that its next ban is
	// longer; a range has none any more.
	Ended
	// Lifted: Ban was lifted, by an operator or because the client became
	// exempt. There is no record any more.
	Lifted
	// Forgotten: the record of a client whose last ban, Ban, is over was
	// dropped: its time had come, or its place was needed.
	Forgotten
)

// String returns the kind's name in lower case, for journals.
func (k EventKind) String() string {
	return [...]string{"banned", "ended", "lifted", "forgotten"}[k]
}

// Event is one change of what the registry knows. Applying every event in
// order to a snapshot gives the registry as it is.
type Event struct {
	Kind   EventKind
	At     time.Time
	Ban    *Ban
	Before *Ban   // of Banned
	By     string // of Lifted: who did it
}

// ByExemption is who lifts the ban of a client that became exempt.
const ByExemption = "exemption"

// Subscribe has f told of every event, in the order they happened. It is called
// without the registry's locks, one event at a time, on the goroutine of
// whoever caused the event or of somebody who came by at the same time; the
// method that caused it returns afterwards. f may read the registry but must
// not change it, and should be quick: strikes that ban wait for it.
//
// Subscribe before the registry is in use.
func (r *Registry) Subscribe(f func(Event)) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.subscribers = append(r.subscribers, f)
}

// unlock ends a change begun by r.mu.Lock and tells of it.
func (r *Registry) unlock() {
	untold := len(r.untold) > 0
	r.mu.Unlock()
	if !untold {
		return
	}
	r.telling.Lock()
	defer r.telling.Unlock()
	for {
		r.mu.Lock()
		events := r.untold
		r.untold = nil
		r.mu.Unlock()
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			for _, f := range r.subscribers {
				f(e)
			}
		}
	}
}
