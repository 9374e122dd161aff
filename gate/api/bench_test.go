package api

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/memory"
	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/persist"
)

// BenchmarkStatus is a poll without the network: check a token, judge, sign the
// next one.
func BenchmarkStatus(b *testing.B) {
	now := time.Now()
	store, err := memory.New(memory.Options{Start: now})
	if err != nil {
		b.Fatal(err)
	}
	f, err := token.NewFile(now)
	if err != nil {
		b.Fatal(err)
	}
	ring, err := token.NewRing(f)
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPublic(Config{Store: store, Ring: ring, Resolver: clientip.NewResolver(nil)})
	if err != nil {
		b.Fatal(err)
	}
	room := gate.DefaultRoom()
	room.ID = "demo"
	live, err := store.Create(b.Context(), now, persist.By{}, room)
	if err != nil {
		b.Fatal(err)
	}
	st, err := store.Join(b.Context(), now, "demo")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		raw, err := ring.Queue(&live.Room, st.Ticket, now)
		if err != nil {
			b.Fatal(err)
		}
		r := httptest.NewRequest("GET", "/api/v1/queue/status", nil)
		r.Header.Set("Authorization", "Bearer "+raw)
		w := httptest.NewRecorder()
		if p.ServeHTTP(w, r); w.Code != 200 {
			b.Fatal(w.Body)
		}
		st.Ticket.Turn++
	}
}
