package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/line"
)

// from sends a browser's first request from an address.
func from(a *App, address string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/page", nil)
	r.RemoteAddr = address + ":4711"
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
	return w
}

// fill takes the only slot.
func fill(t *testing.T, a *App) line.Slot {
	t.Helper()
	d, err := a.line.Enter(t.Context(), time.Now(), line.Entry{})
	if err != nil || d.Verdict != line.Admitted {
		t.Fatalf("fill the room: %v %v", d.Verdict, err)
	}
	return d.Slot
}

// TestPlacesPerClient: one address may hold so many places and no more, unless
// many people share it.
func TestPlacesPerClient(t *testing.T) {
	a := newApp(t, "-cap", "1", "-door-max", "0", "-queue-per-client", "2", "-abuse-allow", "198.51.100.0/24")
	fill(t, a)
	for i, want := range []int{200, 200, 429, 429} {
		if w := from(a, "203.0.113.9"); w.Code != want {
			t.Errorf("place %d of one address: status %d, want %d", i+1, w.Code, want)
		}
		if w := from(a, "198.51.100.7"); w.Code != http.StatusOK {
			t.Errorf("place %d of a shared address: status %d", i+1, w.Code)
		}
	}
}

// TestBanFindsWhoStandsAtTheDoor: a ban takes the place of a waiting request,
// and the slot that comes free is for somebody else.
func TestBanFindsWhoStandsAtTheDoor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newApp(t, "-cap", "1")
		slot := fill(t, a)
		banned, other := make(chan int, 1), make(chan int, 1)
		go func() { banned <- from(a, "203.0.113.9").Code }()
		synctest.Wait()
		go func() { other <- from(a, "203.0.113.10").Code }()
		synctest.Wait()
		if got := a.Stats().AtDoor; got != 2 {
			t.Fatalf("%d at the door, want 2", got)
		}
		order := abuse.Order{Client: netip.MustParsePrefix("203.0.113.9/32"), For: time.Hour, By: "a test"}
		if _, err := a.abuse.Ban(order, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := <-banned; got != http.StatusTooManyRequests {
			t.Errorf("who was banned at the door got status %d, want 429", got)
		}
		a.line.Release(time.Now(), slot)
		if got := <-other; got != http.StatusOK {
			t.Errorf("the next one got status %d", got)
		}
		if got := a.Stats().Occupancy; got != 0 {
			t.Errorf("%d slots still held", got)
		}
	})
}

// TestBansSpareWhoIsExempt: a banned range does not cost an exempt address in it
// its place.
func TestBansSpareWhoIsExempt(t *testing.T) {
	a := newApp(t, "-cap", "1", "-door-max", "0", "-abuse-allow", "203.0.113.7")
	fill(t, a)
	from(a, "203.0.113.7")
	from(a, "203.0.113.8")
	order := abuse.Order{Client: netip.MustParsePrefix("203.0.113.0/24"), For: time.Hour, By: "a test"}
	if _, err := a.abuse.Ban(order, time.Now()); err != nil {
		t.Fatal(err)
	}
	places, err := a.line.List(context.Background(), time.Now(), 0, 10)
	if err != nil || len(places) != 1 || places[0].Client.Addr().String() != "203.0.113.7" {
		t.Fatalf("left in line: %+v %v", places, err)
	}
}
