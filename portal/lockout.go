package portal

import (
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"net/netip"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// browserCookie tells browsers apart before they sign in.
const browserCookie = "concert_portal_browser"

const (
	maxFailures   = 5  // of one browser, or of one address without such a cookie
	maxOfAddress  = 20 // of one address, by browsers that never signed in
	failureWindow = 15 * time.Minute
	maxCounters   = 10_000
	browserAge    = 365 * 24 * time.Hour
)

// browser is what is known of the one that signs in.
type browser struct {
	id    [nonceSize]byte // zero: it brought no cookie of ours
	known bool            // somebody signed in with it before
}

// newBrowser makes an identity for one that has none.
func newBrowser() (b browser) {
	rand.Read(b.id[:])
	return b
}

func (b browser) isZero() bool { return b.id == [nonceSize]byte{} }

func (b browser) kind() byte {
	if b.known {
		return 1
	}
	return 0
}

// cookie is the value that stands for a browser.
func (b browser) cookie(key []byte) string {
	raw := append(b.id[:], b.kind())
	return base64.RawURLEncoding.EncodeToString(append(raw, macOf(key, raw)...))
}

// readBrowser reads a cookie's value; the zero browser when it is not ours.
func readBrowser(key []byte, value string) (b browser) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(raw) != nonceSize+1+halfMAC || !hmac.Equal(raw[nonceSize+1:], macOf(key, raw[:nonceSize+1])) {
		return b
	}
	copy(b.id[:], raw)
	b.known = raw[nonceSize] == 1
	return b
}

// subject is whose failures are counted together.
type subject struct {
	browser [nonceSize]byte
	client  netip.Prefix
	kind    byte
}

// Kinds of subjects.
const (
	oneBrowser  byte = iota // or an address, for those without a cookie
	newBrowsers             // of an address
	tokens                  // sent from an address
)

// limit is a subject and how many failures it may have.
type limit struct {
	subject
	most int
}

// counter counts failures in a span of time that begins with the first.
type counter struct {
	n     int
	until time.Time
}

// lockout counts failed sign-ins.
type lockout struct {
	mu       sync.Mutex // guards the fields below
	counters map[subject]counter
	swept    time.Time // when counters that are over were last looked for
}

// limitsOf are what a sign-in counts for, the browser's own first.
func limitsOf(b browser, client netip.Addr) []limit {
	key := clientip.KeyOf(client)
	own := subject{browser: b.id, kind: oneBrowser}
	if b.isZero() {
		own.client = key
	}
	if b.known {
		return []limit{{own, maxFailures}}
	}
	return []limit{{own, maxFailures}, {subject{client: key, kind: newBrowsers}, maxOfAddress}}
}

// tokenLimit is what a request with a token counts for.
func tokenLimit(client netip.Addr) []limit {
	return []limit{{subject{client: clientip.KeyOf(client), kind: tokens}, maxOfAddress}}
}

// try counts an attempt as failed before its password is looked at, so that
// attempts at the same moment cannot be more than the limit. The wait is 0 when
// the attempt may be made.
func (l *lockout) try(limits []limit, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait = l.waitLocked(limits, now); wait > 0 {
		return wait
	}
	if len(limits) > 1 && !l.roomLocked(now) { // browsers that are known are few
		return failureWindow
	}
	for _, s := range limits {
		l.countLocked(s, now)
	}
	return 0
}

// wait is how long no attempt is taken; 0 for not at all.
func (l *lockout) wait(limits []limit, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waitLocked(limits, now)
}

func (l *lockout) waitLocked(limits []limit, now time.Time) (wait time.Duration) {
	for _, s := range limits {
		if c := l.counters[s.subject]; c.n >= s.most && now.Before(c.until) {
			wait = max(wait, c.until.Sub(now))
		}
	}
	return wait
}

// failed counts an attempt that was made without try.
func (l *lockout) failed(limits []limit, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.roomLocked(now) {
		return
	}
	for _, s := range limits {
		l.countLocked(s, now)
	}
}

func (l *lockout) countLocked(s limit, now time.Time) {
	if l.counters == nil {
		l.counters = make(map[subject]counter)
	}
	c := l.counters[s.subject]
	if !now.Before(c.until) {
		c = counter{until: now.Add(failureWindow)}
	}
	if c.n++; c.n >= s.most {
		c.until = now.Add(failureWindow) // locked from here on
	}
	l.counters[s.subject] = c
}

// roomLocked makes room in the table; while it is full of failures, no others
// can be counted.
func (l *lockout) roomLocked(now time.Time) bool {
	if len(l.counters) < maxCounters {
		return true
	}
	if now.Sub(l.swept) < time.Second {
		return false
	}
	l.swept = now
	for s, c := range l.counters {
		if !now.Before(c.until) {
			delete(l.counters, s)
		}
	}
	return len(l.counters) < maxCounters
}

// succeeded takes back what the attempt, and those of the same browser before
// it, counted.
func (l *lockout) succeeded(limits []limit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	mine := l.counters[limits[0].subject].n
	for _, s := range limits {
		c := l.counters[s.subject]
		if c.n -= mine; c.n <= 0 {
			delete(l.counters, s.subject)
			continue
		}
		l.counters[s.subject] = c
	}
}
