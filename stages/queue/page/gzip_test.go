package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/language"
)

// gunzip decompresses, checksum and length included.
func gunzip(tb testing.TB, b []byte) string {
	tb.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func TestGzipIsTheSamePage(t *testing.T) {
	values := []Values{
		{},
		{Position: -5, Ahead: -1, ETA: -1},
		{Position: math.MaxInt, Ahead: math.MaxInt, ETA: math.MaxInt64, PollAfter: math.MaxInt64, Joined: time.Unix(1<<40, 0)},
		{Position: 2, Ahead: 1, ETA: time.Minute, PollAfter: time.Second, Joined: time.Now(), Back: "/shop?a=1&b=" + strings.Repeat("ü", 400)},
	}
	pages := map[string]*Set{
		"custom":       Custom([]byte("{{.Position}}<p>{{.Position}}{{.Position}} of {{.SkipURL}}")),
		"custom empty": Custom(nil),
	}
	for name, prepare := range map[string]func(Look) (*Set, error){"waiting": BuiltIn, "farewell": Farewell, "cookies": NoCookies} {
		set, err := prepare(Look{Name: "Café"})
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = set
	}
	for name, set := range pages {
		for _, l := range language.All() {
			for i, v := range values {
				p := set.In(l)
				if got := gunzip(t, p.AppendGzip([]byte("before"), v)[len("before"):]); got != string(p.Append(nil, v)) {
					t.Errorf("%s in %s, visitor %d: the pages differ", name, l.Code(), i)
				}
			}
		}
	}
}

// TestBudget is what fails when the page outgrows its first round trip.
func TestBudget(t *testing.T) {
	set := mustBuiltIn(t)
	v := visitor()
	v.Back = "/a/path/of/usual/length?with=a&query=too"
	for _, l := range language.All() {
		raw, sent := len(set.In(l).Append(nil, v)), len(set.In(l).AppendGzip(nil, v))
		t.Logf("%-7s %5d bytes, %5d sent", l.Code(), raw, sent)
		if raw > maxBuiltIn || sent > maxGzipped {
			t.Errorf("%s: %d bytes, %d sent; budget %d and %d", l.Code(), raw, sent, maxBuiltIn, maxGzipped)
		}
	}
}

func TestGzipAllocatesNothing(t *testing.T) {
	p, v := mustBuiltIn(t).In(language.German), visitor()
	v.Back = "/shop?x=1"
	buf := p.AppendGzip(nil, v)
	if n := allocs.PerRun(1000, func() { buf = p.AppendGzip(buf[:0], v) }); n != 0 {
		t.Errorf("%v allocations for each visitor", n)
	}
}

func BenchmarkAppendGzip(b *testing.B) {
	p, v := mustBuiltIn(b).In(language.English), visitor()
	buf := p.AppendGzip(nil, v)
	b.ReportAllocs()
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		buf = p.AppendGzip(buf[:0], v)
	}
}

// FuzzGzip looks for figures that break the stream or the markup.
func FuzzGzip(f *testing.F) {
	p := mustBuiltIn(f).In(language.Arabic)
	f.Add(1, 0, int64(60), int64(5), int64(1700000000), "/shop?x=1&y=<b>")
	f.Add(-1, -1, int64(-1), int64(0), int64(-1), "/\"'\x00;url=//evil")
	f.Fuzz(func(t *testing.T, position, ahead int, eta, poll, joined int64, back string) {
		v := Values{Position: position, Ahead: ahead, ETA: time.Duration(eta), PollAfter: time.Duration(poll), Joined: time.Unix(joined, 0), Back: back}
		got := gunzip(t, p.AppendGzip(nil, v))
		if got != string(p.Append(nil, v)) {
			t.Fatal("the pages differ")
		}
		_, rest, _ := strings.Cut(got, `http-equiv="refresh" content="`)
		value, _, _ := strings.Cut(rest, `"></noscript>`)
		if strings.ContainsAny(value, `"<>'`) || strings.Count(value, ";") > 1 {
			t.Errorf("the refresh is %q", value)
		}
	})
}
