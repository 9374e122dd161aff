package slots

import "github.com/andreimerlescu/concert/internal/chain"

// waiter is one caller waiting at a gate.
type waiter struct {
	granted chan struct{} // closed, under the gate's lock, once it holds a slot
	place   chain.Place[waiter]
}

// queue is the waiters in the order they came.
type queue struct{ chain.Chain[waiter] }

func (q *queue) empty() bool { return q.Len() == 0 }

// pop takes out the first waiter; there must be one.
func (q *queue) pop() *waiter {
	w := q.First()
	w.place.Take()
	return w
}
