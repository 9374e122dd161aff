package portal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/line"
)

// TestEverybodyAtOnce: visitors come and go while operators look, act, sign in
// and out, for the race detector. Nobody gets a status that the description does
// not have.
func TestEverybodyAtOnce(t *testing.T) {
	r := newRig(t)
	d := r.describes(operatorPass)
	r.queueUp("192.0.2.1", "192.0.2.2")
	const turns = 60
	var wg sync.WaitGroup
	each := func(do func(i int)) {
		wg.Go(func() {
			for i := range turns {
				do(i)
			}
		})
	}
	ask := func(method, target, body string) {
		w := d.call(method, target, body)
		holdTo(t, &d.doc, method, target, w.Code, w.Body.Bytes())
	}
	each(func(i int) { // visitors
		a := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		if e, err := r.line.Enter(context.Background(), time.Now(), line.Entry{Client: clientip.KeyOf(a)}); err == nil && e.Verdict == line.Waiting {
			r.Placed(visitOf(fmt.Sprint("/", i), "agent"), e.Place.Ticket)
			r.Removed(e.Place.Ticket)
			if i%3 == 0 {
				_ = r.line.Quit(context.Background(), time.Now(), e.Place.Ticket)
			}
		}
	})
	each(func(i int) { r.sample(time.Now()); r.sweepNotes(t.Context(), time.Now()); r.kicked.sweep(time.Now()) })
	targets := []string{
		"/api/frag/queue?q=agent", "/api/frag/queue", "/api/frag/bans", "/api/series", "/api/queue", "/api/overview",
		"/api/sessions", "/api/queue/find?q=192.0.2.3", "/api/bans/preview?client=192.0.2.0/24", "/api/frag/visitors", "/api/frag/overview",
	}
	each(func(i int) { ask("GET", targets[i%len(targets)], "") })
	each(func(i int) { ask("GET", targets[rand.IntN(len(targets))], "") })
	each(func(int) {
		if list, err := r.line.List(t.Context(), time.Now(), rand.IntN(5), 1); err == nil && len(list) == 1 {
			verb := []string{"promote", "kick"}[rand.IntN(2)]
			ask("POST", "/api/queue/"+verb, `{"id":"`+idOf(list[0].Place.Ticket.Number)+`"}`)
		}
	})
	each(func(i int) {
		client := fmt.Sprintf("192.0.2.%d", rand.IntN(64))
		if i%2 == 0 {
			ask("POST", "/api/bans", `{"client":"`+client+`","duration":"1m"}`)
		} else {
			ask("DELETE", "/api/bans?client="+client, "")
		}
	})
	each(func(int) {
		s := r.signIn(viewerPass)
		s.call("GET", "/api/sessions", "")
		s.do("POST", "/logout", "csrf="+s.csrf, withCookie(s.cookie))
	})
	wg.Wait()
	if n := len(r.sessions.list(time.Now())); n != 1 {
		t.Errorf("%d sessions are left, want the one that did not sign out", n)
	}
}
