package portal

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// maxKicked bounds the tickets that are remembered as removed; the one whose
// time is over first makes room.
const maxKicked = 100_000

// kicked are the tickets that operators took out of the line lately.
type kicked struct {
	n atomic.Int64 // len(until), for who comes by without the lock

	mu    sync.Mutex // guards until
	until map[uint64]time.Time
}

// add remembers a ticket until a time.
func (k *kicked) add(number uint64, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.until == nil {
		k.until = make(map[uint64]time.Time)
	}
	if len(k.until) >= maxKicked {
		k.makeRoomLocked()
	}
	k.until[number] = until
	k.n.Store(int64(len(k.until)))
}

func (k *kicked) makeRoomLocked() {
	first := uint64(0)
	for number, until := range k.until {
		if first == 0 || until.Before(k.until[first]) {
			first = number
		}
	}
	delete(k.until, first)
}

// has reports whether a ticket is remembered. While none is, it costs a load.
func (k *kicked) has(number uint64, now time.Time) bool {
	if k.n.Load() == 0 {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	until, known := k.until[number]
	return known && now.Before(until)
}

// sweep forgets what is over.
func (k *kicked) sweep(now time.Time) {
	if k.n.Load() == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for number, until := range k.until {
		if !now.Before(until) {
			delete(k.until, number)
		}
	}
	k.n.Store(int64(len(k.until)))
}

// Removed reports whether an operator took a ticket out of the line lately. It
// is for queue.Config.
func (p *Portal) Removed(t line.Ticket) bool { return p.kicked.has(t.Number, time.Now()) }
