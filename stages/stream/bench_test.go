package stream

import (
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/pipeline"
)

// openAndEnd is the stage's share of one stream's life.
func openAndEnd(s *Stage, v *pipeline.Visit) {
	if _, err := s.Enter(v); err == nil {
		s.Release(v, 0)
	}
	*v = pipeline.Visit{}
}

func TestAllocs(t *testing.T) {
	for name, streams := range map[string]int{"free": 1000, "full": 1} {
		t.Run(name, func(t *testing.T) {
			s, _ := build(t, streams, &origin{})
			if name == "full" {
				s.gate.TryAcquire()
			}
			v := new(pipeline.Visit)
			if n := allocs.PerRun(1000, func() { openAndEnd(s, v) }); n != 0 {
				t.Errorf("%v allocations for a stream, want 0", n)
			}
		})
	}
}

func BenchmarkStream(b *testing.B) {
	s, err := New(Config{Cap: 1000})
	if err != nil {
		b.Fatal(err)
	}
	v := new(pipeline.Visit)
	b.ReportAllocs()
	for b.Loop() {
		openAndEnd(s, v)
	}
}
