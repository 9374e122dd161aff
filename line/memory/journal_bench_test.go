package memory

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// BenchmarkJournal gives a place and takes it back, with and without a record
// of it.
func BenchmarkJournal(b *testing.B) {
	for name, record := range map[string]bool{"off": false, "on": true} {
		b.Run(name, func(b *testing.B) {
			l := New(Options{Settings: settings(1), Start: start, Record: record})
			now := start
			_, _ = l.Enter(b.Context(), now, page(0)) // the line is never out of reach
			var changes []line.Change
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Microsecond)
				d, _ := l.Enter(b.Context(), now, line.Entry{Client: somebody(1)})
				_ = l.Quit(b.Context(), now, d.Place.Ticket)
				if n++; n%1000 == 0 {
					changes = l.Changes(changes[:0])
				}
			}
		})
	}
}
