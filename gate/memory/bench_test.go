package memory

import (
	"testing"

	"github.com/andreimerlescu/concert/gate"
)

// TestTicketsStaySmall holds a crowd to the memory that the package promises.
func TestTicketsStaySmall(t *testing.T) {
	var s tickets
	for range 1000 {
		s.add(1, 1)
	}
	if b := encodeTickets(s.list); len(b) != 1000*ticketBytes || ticketBytes > 24 {
		t.Errorf("%d bytes for a thousand", len(b))
	}
}

func BenchmarkPoll(b *testing.B) {
	s, err := New(Options{Start: noon})
	if err != nil {
		b.Fatal(err)
	}
	r := gate.DefaultRoom()
	r.ID = "demo"
	if _, err := s.Create(b.Context(), noon, operator, r); err != nil {
		b.Fatal(err)
	}
	var st gate.Status
	for range 100_000 {
		if st, err = s.Join(b.Context(), noon, "demo"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if st, err = s.Poll(b.Context(), noon, "demo", st.Ticket); err != nil {
			b.Fatal(err)
		}
	}
}
