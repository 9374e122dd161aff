package portal

import (
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// tries signs in with a password and wants a status.
func (r *rig) tries(status int, pass string, options ...option) {
	r.tb.Helper()
	w := r.do("POST", "/login", "pass="+pass, options...)
	if w.Code != status {
		r.tb.Fatalf("sign-in: %d, want %d", w.Code, status)
	}
	if wait := w.Header().Get("Retry-After"); (status == http.StatusTooManyRequests) != (wait != "") {
		r.tb.Errorf("status %d with Retry-After %q", status, wait)
	}
}

// visits opens the form, as a browser does, and returns its cookie.
func (r *rig) visits(options ...option) http.Cookie {
	r.tb.Helper()
	for _, c := range r.do("GET", "/", "", options...).Result().Cookies() {
		if c.Name == browserCookie {
			return *c
		}
	}
	r.tb.Fatal("no cookie for the browser")
	return http.Cookie{}
}

func TestLockout(t *testing.T) { synctest.Test(t, lockedOut) }

func lockedOut(t *testing.T) {
	r := newRig(t)
	for range maxFailures {
		r.tries(401, "guess")
	}
	r.tries(429, "guess")
	r.tries(429, operatorPass)
	time.Sleep(failureWindow - time.Second)
	r.tries(429, operatorPass)
	time.Sleep(time.Second)
	for range maxFailures - 1 {
		r.tries(401, "guess")
	}
	r.tries(303, operatorPass) // which clears the count
	for range maxFailures - 1 {
		r.tries(401, "guess")
	}
	time.Sleep(failureWindow) // so does time
	r.tries(401, "guess")
	r.tries(303, operatorPass)
}

// TestOnePersonsTyposAreTheirOwn: all come from one address, as through a tunnel.
func TestOnePersonsTyposAreTheirOwn(t *testing.T) {
	r := newRig(t)
	known := r.signIn(operatorPass)
	clumsy, colleague := r.visits(), r.visits()
	for range maxFailures {
		r.tries(401, "guess", withCookie(clumsy))
	}
	r.tries(429, operatorPass, withCookie(clumsy))
	r.tries(303, operatorPass, withCookie(known.browser))
	r.tries(303, operatorPass, withCookie(colleague))
	r.tries(303, operatorPass)

	// Somebody who throws the cookie away each time is not let off.
	guesses := 0
	for ; guesses < 2*maxOfAddress; guesses++ {
		if w := r.do("POST", "/login", "pass=guess", withCookie(r.visits())); w.Code == 429 {
			break
		}
	}
	if guesses > maxOfAddress {
		t.Errorf("%d guesses were taken, want at most %d", guesses, maxOfAddress)
	}
	r.tries(429, operatorPass, withCookie(r.visits()))
	r.tries(303, operatorPass, withCookie(known.browser)) // who was here before is still let in
	r.tries(303, operatorPass, from("127.0.0.1"), withCookie(known.browser))
	for range maxFailures { // but has no more guesses than anybody
		r.tries(401, "guess", withCookie(known.browser))
	}
	r.tries(429, operatorPass, withCookie(known.browser))
}

func TestForgedBrowsersAreNobody(t *testing.T) {
	r := newRig(t)
	c := r.visits()
	forged := []byte(c.Value)
	if forged[23] == 'A' {
		forged[23]++
	} else {
		forged[23] = 'A'
	}
	c.Value = string(forged)
	other := http.Cookie{Name: browserCookie, Value: browser{id: [nonceSize]byte{1}, known: true}.cookie([]byte("another key"))}
	for range maxFailures {
		r.tries(401, "guess", withCookie(c))
	}
	r.tries(429, operatorPass, withCookie(other)) // counted for the address
}

func TestIPv6CountsBy64(t *testing.T) {
	r := newRig(t)
	r.program.cfg.PortalAllow = trust(t, "2001:db8::/32")
	for i := range maxFailures {
		r.tries(401, "guess", from(fmt.Sprintf("2001:db8:1:2::%d", i)))
	}
	r.tries(429, operatorPass, from("2001:db8:1:2::99"))
	r.tries(303, operatorPass, from("2001:db8:1:3::1"))
}

// TestGuessesAtOnce: no more are taken than one after the other.
func TestGuessesAtOnce(t *testing.T) {
	var l lockout
	var taken atomic.Int32
	var wg sync.WaitGroup
	a, now := netip.MustParseAddr("192.0.2.1"), time.Now()
	for range 64 {
		wg.Go(func() {
			if l.try(limitsOf(browser{}, a), now) == 0 {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n != maxFailures {
		t.Errorf("%d guesses were taken, want %d", n, maxFailures)
	}
}

func TestCountersAreBounded(t *testing.T) {
	var l lockout
	now := time.Now()
	for i := range 2 * maxCounters {
		l.try(limitsOf(newBrowser(), netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})), now)
	}
	if len(l.counters) > maxCounters+1 {
		t.Errorf("%d counters", len(l.counters))
	}
	if wait := l.try(limitsOf(browser{id: [nonceSize]byte{1}, known: true}, netip.Addr{}), now); wait != 0 {
		t.Error("a known browser is locked out by others")
	}
	if wait := l.try(limitsOf(newBrowser(), netip.AddrFrom4([4]byte{10, 9, 9, 9})), now.Add(failureWindow)); wait != 0 {
		t.Error("counters that are over take room")
	}
}

func TestTokens(t *testing.T) {
	r := newRig(t)
	ask := func(want int, token string) {
		t.Helper()
		if w := r.do("GET", "/api/sessions", "", bearer(token)); w.Code != want {
			t.Fatalf("%d %s, want %d", w.Code, w.Body, want)
		}
	}
	ask(200, adminToken)
	for range maxOfAddress {
		ask(401, "guess")
	}
	ask(429, adminToken)
	r.tries(303, operatorPass) // people are not counted with programs
	if w := r.do("GET", "/", "", bearer(adminToken)); w.Code != 200 {
		t.Errorf("a page with the token: %d", w.Code)
	}
}
