package signed

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

func TestAllocs(t *testing.T) {
	k := newKeyring(t, "a")
	payload := make([]byte, 24)
	buf := make([]byte, 0, maxToken)
	token := string(k.AppendToken(nil, payload))
	forged := token[:len(token)-1] + "_"
	tests := []struct {
		name string
		call func()
	}{
		{"sign", func() { k.AppendToken(buf, payload) }},
		{"valid", func() { k.Open(buf, token) }},
		{"forged", func() { k.Open(buf, forged) }},
		{"garbage", func() { k.Open(buf, "x") }},
	}
	for _, tt := range tests {
		if n := allocs.PerRun(1000, tt.call); n != 0 {
			t.Errorf("%s: %v allocations, want 0", tt.name, n)
		}
	}
}

func BenchmarkAppendToken(b *testing.B) {
	k := newKeyring(b, "a")
	payload := make([]byte, 24)
	buf := make([]byte, 0, maxToken)
	b.ReportAllocs()
	for b.Loop() {
		k.AppendToken(buf, payload)
	}
}

func BenchmarkOpen(b *testing.B) {
	k := newKeyring(b, "a")
	buf := make([]byte, 0, maxToken)
	tests := []struct{ name, token string }{
		{"valid", string(k.AppendToken(nil, make([]byte, 24)))},
		{"longest", string(k.AppendToken(nil, make([]byte, MaxPayload)))},
		{"stale", string(newKeyring(b, "b").AppendToken(nil, make([]byte, 24)))},
		{"garbage", strings.Repeat("!", 60)},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k.Open(buf, tt.token)
			}
		})
	}
}
