package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// crowded is an origin that knows how many requests of each room it has at once.
type crowded struct {
	mu         sync.Mutex // guards the fields below
	now, most  map[string]int
	all, worst int
}

func (o *crowded) Serve(v *pipeline.Visit) error {
	o.mu.Lock()
	o.now[v.Room]++
	o.all++
	o.most[v.Room], o.worst = max(o.most[v.Room], o.now[v.Room]), max(o.worst, o.all)
	o.mu.Unlock()
	time.Sleep(time.Duration(20+rand.IntN(80)) * time.Millisecond) // of the bubble
	o.mu.Lock()
	o.now[v.Room]--
	o.all--
	o.mu.Unlock()
	return instant{}.Serve(v)
}

// TestOriginNeverSeesMoreThanTheCaps: with crowds in every room, and a room that
// is made larger and smaller meanwhile.
func TestOriginNeverSeesMoreThanTheCaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := &crowded{now: map[string]int{}, most: map[string]int{}}
		a := newLive(t, "", "-cap=4", "-rooms", checkoutRoom, "-max-queue=0")
		a.options.Origin = origin
		changeRooms(t, a, checkoutRoom) // with this origin
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { a.Run(ctx) })
		var crowd sync.WaitGroup
		served := make([]int, 3)
		for i := range 120 {
			crowd.Go(func() {
				b := newVisitor(a, fmt.Sprintf("198.51.%d.%d", i/250, i%250+1))
				target := []string{"/", "/checkout/pay", "/seats"}[i%3]
				if i%3 == 2 {
					b.host = "tickets.example"
				}
				for {
					w := b.get(target)
					if w.Code == 200 && w.Body.Len() == 0 {
						break
					}
					time.Sleep(time.Second)
				}
				origin.mu.Lock()
				served[i%3]++
				origin.mu.Unlock()
			})
		}
		for i := range 6 {
			time.Sleep(500 * time.Millisecond)
			changeRooms(t, a, strings.Replace(checkoutRoom, `"cap":1`, fmt.Sprintf(`"cap":%d`, 1+i%2), 1))
		}
		crowd.Wait()
		if m := origin.most; m[""] != 4 || m["checkout"] != 2 || m["tickets"] != 2 || origin.worst > 8 {
			t.Errorf("at once at the origin: %v, %d in all; want 4, 2, 2 and at most 8", m, origin.worst)
		}
		if served[0] != 40 || served[1] != 40 || served[2] != 40 {
			t.Errorf("served %v, want 40 in each room", served)
		}
		stop()
		running.Wait()
	})
}

// TestHotPathsOfRoomsAllocateNothing beyond what the default room's do.
func TestHotPathsOfRoomsAllocateNothing(t *testing.T) {
	plain, with := newLive(t, "", "-cap=9"), newLive(t, "", "-cap=9", "-rooms", checkoutRoom)
	measure := func(a *App, host, target, pass string) float64 {
		b := newVisitor(a, "203.0.113.1")
		b.host = host
		b.get(target)
		r := httptest.NewRequest("GET", target, nil)
		r.Host, r.RemoteAddr = host, "203.0.113.1:4711"
		r.Header["Cookie"] = []string{pass + "=" + b.cookies[pass]}
		w := pipelinetest.Nowhere{}
		return allocs.PerRun(1000, func() { clear(w); a.Handler().ServeHTTP(w, r) })
	}
	base := measure(plain, "shop.example", "/checkout/pay", "concert_admit")
	for _, c := range [][3]string{{"shop.example", "/", "concert_admit"}, {"shop.example", "/checkout/pay", "concert_admit.checkout"}, {"tickets.example", "/", "concert_admit.tickets"}} {
		if got := measure(with, c[0], c[1], c[2]); got > base {
			t.Errorf("%s%s: %v allocations, %v without rooms", c[0], c[1], got, base)
		}
	}
}
