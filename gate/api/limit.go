package api

import (
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"
)

// Limits bound what one address may do; 0 sets no limit.
type Limits struct {
	// Joins are tickets given and resumed, per minute.
	Joins int
	// Requests are all others to the queue API, per second.
	Requests int
}

// maxTracked is the most addresses a limiter remembers. Beyond it the ones that
// were quiet longest are forgotten; should all be busy, nobody is limited.
const maxTracked = 100_000

// limiter allows each address so many acts per second, and burst at once.
type limiter struct {
	rate  float64
	burst float64

	mu    sync.Mutex // guards the field below
	known map[netip.Prefix]allowance
}

// allowance is what an address has left at a time.
type allowance struct {
	left float64
	at   time.Time
}

// newLimiter returns nil when there is no limit.
func newLimiter(n int, per time.Duration) *limiter {
	if n <= 0 {
		return nil
	}
	return &limiter{rate: float64(n) / per.Seconds(), burst: float64(n), known: map[netip.Prefix]allowance{}}
}

// allow takes one act, or says how long to wait.
func (l *limiter) allow(key netip.Prefix, now time.Time) (wait time.Duration, ok bool) {
	if l == nil {
		return 0, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a, known := l.known[key]
	if !known {
		if len(l.known) >= maxTracked {
			l.forget(now)
		}
		if len(l.known) >= maxTracked {
			return 0, true
		}
		a = allowance{l.burst, now}
	}
	a.left = min(l.burst, a.left+l.rate*max(0, now.Sub(a.at).Seconds()))
	a.at = now
	if ok = a.left >= 1; ok {
		a.left--
	} else {
		wait = time.Duration((1 - a.left) / l.rate * float64(time.Second))
	}
	l.known[key] = a
	return wait, ok
}

// forget drops whoever has all of the allowance back.
func (l *limiter) forget(now time.Time) {
	for key, a := range l.known {
		if a.left+l.rate*now.Sub(a.at).Seconds() >= l.burst {
			delete(l.known, key)
		}
	}
}

// limited answers for a limiter; false means that it has refused.
func (p *Public) limited(w http.ResponseWriter, r *http.Request, l *limiter) bool {
	client := p.Resolver.Resolve(r.RemoteAddr, r.Header)
	if p.Exempt != nil && p.Exempt(client.Addr) {
		return true
	}
	wait, ok := l.allow(client.Key, p.Now())
	if !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		writeFault(w, &fault{status: http.StatusTooManyRequests, code: "too_many", text: "too many requests from your address; wait a little"}, p.Log)
	}
	return ok
}
