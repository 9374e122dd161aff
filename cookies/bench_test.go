package cookies

import (
	"net/http"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

const (
	site = "_ga=GA1.2.1234567890.1700000000; PHPSESSID=0123456789abcdef0123456789; theme=dark; lang=en"
	own  = "room_ticket=0123456789abcdef0123456789abcdef; concert_admit=0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"
)

func TestAllocs(t *testing.T) {
	sent := http.Header{"Cookie": {site + "; " + own}}
	tpl, err := NewTemplate(&http.Cookie{Name: "concert_admit", Path: "/", MaxAge: 600})
	if err != nil {
		t.Fatal(err)
	}
	strip := func(line string) func() { return func() { StripLine(line, ours) } }
	tests := []struct {
		name string
		max  float64
		call func()
	}{
		{"read", 0, func() {
			for range Each(sent, "concert_admit") {
				continue
			}
		}},
		{"nothing to strip", 0, strip(site)},
		{"ours last", 0, strip(site + "; " + own)},
		{"ours first", 0, strip(own + "; " + site)},
		{"ours alone", 0, strip(own)},
		{"ours between", 2, strip("a=1; room_ticket=x; b=" + site)},
		{"set", 1, func() { tpl.Line("token", true) }},
		{"clear", 0, func() { tpl.Clear(true) }},
	}
	for _, tt := range tests {
		if n := allocs.PerRun(1000, tt.call); n > tt.max {
			t.Errorf("%s: %v allocations, want at most %v", tt.name, n, tt.max)
		}
	}
}

func BenchmarkEach(b *testing.B) {
	h := http.Header{"Cookie": {site + "; " + own}}
	b.ReportAllocs()
	for b.Loop() {
		for value := range Each(h, "concert_admit") {
			_ = value
		}
	}
}

func BenchmarkStrip(b *testing.B) {
	tests := []struct{ name, line string }{
		{"nothing", site},
		{"last", site + "; " + own},
		{"between", "a=1; " + own + "; " + site},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				StripLine(tt.line, ours)
			}
		})
	}
}
