package persist

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/line"
)

// journalText is the journal of changes that f has made since its beginning.
func journalText(t testing.TB, f *fakeLine) (text []byte, ends []int) {
	t.Helper()
	var b bytes.Buffer
	if err := writeLineJournal(&b, lineJournalHead{1, 7, 0}, nil); err != nil {
		t.Fatal(err)
	}
	text, ends = b.Bytes(), []int{b.Len()}
	for i := range f.changes {
		text = appendChange(text, &f.changes[i])
		ends = append(ends, len(text))
	}
	return text, ends
}

func TestChangesAreWrittenAsJSON(t *testing.T) {
	f := newFakeLine()
	f.play(1, 8)
	for _, c := range f.changes {
		text, rest, ok := cutLine(appendChange(nil, &c))
		if !ok || len(rest) > 0 || !json.Valid(text) {
			t.Fatalf("change %+v is written as %q", c, text)
		}
		got, err := parseChange(text)
		if c.Kind == line.Put && c.Ticket.PollAfter == 0 {
			got.Ticket.PollAfter = 0
		}
		if diff := cmp.Diff(c, got, equatePrefix()); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		_, scanned := scanChange(text)
		slow, err := parseChange(append(text, ' ')) // which the scanner leaves alone
		if diff := cmp.Diff(got, slow, equatePrefix()); diff != "" || err != nil || scanned != (c.Kind != line.Seen) {
			t.Errorf("scanned %v, %v %s", scanned, err, diff)
		}
	}
}

// A journal that is cut anywhere yields all changes that are whole.
func TestTornLineJournal(t *testing.T) {
	f := newFakeLine()
	f.play(1, 8)
	text, ends := journalText(t, f)
	for cut := ends[0]; cut <= len(text); cut++ {
		want := line.NewReplay(begun())
		for i, c := range f.changes {
			if ends[i+1] <= cut {
				want.Apply(c)
			}
		}
		got, damaged, err := replayLine(text[:cut], begun())
		if diff := cmp.Diff(want.Snapshot(), got, equatePrefix()); diff != "" || damaged || err != nil {
			t.Fatalf("cut at %d: damaged %v, %v\n%s", cut, damaged, err, diff)
		}
	}
}

// Whatever bit flips, no line is taken for another: a change is missing, which
// shows unless it was the last.
func TestFlippedLineJournal(t *testing.T) {
	f := newFakeLine()
	f.play(1, 6)
	text, ends := journalText(t, f)
	last := ends[len(ends)-2] - 1 // without the end of its line the one before is no line either
	for i := range len(text) * 8 {
		bad := bytes.Clone(text)
		bad[i/8] ^= 1 << (i % 8)
		got, damaged, err := replayLine(bad, begun())
		if i/8 < last && !damaged && err == nil {
			t.Fatalf("bit %d flipped shows nothing", i)
		}
		if i/8 >= last && (damaged || err != nil || got.Sequence < f.last-2) {
			t.Fatalf("bit %d of the last line flipped: change %d, damaged %v, %v", i, got.Sequence, damaged, err)
		}
	}
}

// What is read after a damage is as much as can be known.
func TestDamagedLineJournal(t *testing.T) {
	f := newFakeLine()
	f.play(1, 8)
	good, ends := journalText(t, f)
	full := f.snapshot()
	cut := slices.Concat(good[:ends[3]], good[ends[4]:])
	foreign := full
	foreign.Line = 8
	for name, c := range map[string]struct {
		text         string
		base         line.Snapshot
		tickets      int
		whole, aside bool
	}{
		"good":                  {string(good), begun(), len(full.Tickets), true, false},
		"in the snapshot":       {string(good), full, len(full.Tickets), true, false},
		"a change is missing":   {string(cut), begun(), len(full.Tickets) - 1, false, true},
		"of another line":       {string(good), foreign, len(full.Tickets), false, false},
		"empty":                 {"", full, len(full.Tickets), false, true},
		"NUL":                   {strings.Repeat("\x00", 4096), full, len(full.Tickets), false, true},
		"no first line":         {string(good[ends[0]:]), full, len(full.Tickets), false, true},
		"a line that says less": {string(good) + sumLine(`{"seq":99}`), begun(), len(full.Tickets), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			d := openDir(t, path)
			if err := d.SaveLine(SavedLine{Snapshot: c.base}); err != nil {
				t.Fatal(err)
			}
			put(t, path, lineJournalName, c.text)
			got, err := d.LoadLine()
			if err != nil || got.Clean || got.Whole != c.whole || len(got.Tickets) != c.tickets {
				t.Errorf("%d tickets, whole %v, %v; want %d, %v", len(got.Tickets), got.Whole, err, c.tickets, c.whole)
			}
			if kept := strings.Contains(names(t, path), "queue.journal.bad"); kept != c.aside {
				t.Errorf("files %s", names(t, path))
			}
		})
	}
}

func sumLine(text string) string {
	return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(text), castagnoli()), text)
}

// TestLineIsJournalled: at any time the snapshot and the journal make up the
// line of a moment ago, and a clean line needs no journal.
func TestLineIsJournalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir()
		d := openDir(t, path)
		f := newFakeLine()
		ctx, stop := context.WithCancel(t.Context())
		var keeping sync.WaitGroup
		keeping.Go(func() { d.KeepLine(ctx, 10*time.Second, f.source()) })
		check := func(what string) {
			t.Helper()
			got, err := d.LoadLine()
			if diff := cmp.Diff(f.snapshot().Tickets, got.Tickets, equatePrefix()); diff != "" || err != nil || !got.Whole {
				t.Fatalf("%s: whole %v, %v\n%s", what, got.Whole, err, diff)
			}
		}
		n := uint64(1)
		for range 60 { // six snapshots
			f.play(n, n+5)
			n += 6
			time.Sleep(time.Second + lineBatch + time.Millisecond)
			synctest.Wait()
			check("while it runs")
		}
		if size := len(get(t, path, lineJournalName)); size > 40_000 {
			t.Errorf("the journal has %d bytes: it is not begun anew", size)
		}
		f.play(n, n+5)
		d.SyncLine()
		check("synced")
		f.play(n+6, n+11)
		stop()
		keeping.Wait()
		check("at the end")
		d.SyncLine() // nobody is there, and nobody is waited for
	})
}

// A journal that cannot go on is followed by a snapshot soon.
func TestBrokenJournalIsMended(t *testing.T) {
	for name, hurt := range map[string]func(path string, f *fakeLine){
		"removed": func(path string, _ *fakeLine) { _ = os.Remove(filepath.Join(path, lineJournalName)) },
		"a gap": func(_ string, f *fakeLine) {
			f.play(50, 55)
			f.mu.Lock()
			f.changes = f.changes[3:]
			f.mu.Unlock()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := t.TempDir()
				d := openDir(t, path)
				f := newFakeLine()
				ctx, stop := context.WithCancel(t.Context())
				var keeping sync.WaitGroup
				keeping.Go(func() { d.KeepLine(ctx, time.Hour, f.source()) })
				for n := range uint64(3) {
					time.Sleep(2 * time.Second)
					synctest.Wait()
					if n == 1 {
						hurt(path, f)
					}
					f.play(1+6*n, 6+6*n)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				got, err := d.LoadLine()
				if diff := cmp.Diff(f.snapshot().Tickets, got.Tickets, equatePrefix()); diff != "" || err != nil || !got.Whole {
					t.Errorf("whole %v, %v\n%s", got.Whole, err, diff)
				}
				wantNoFaults(t, d)
				stop()
				keeping.Wait()
			})
		})
	}
}

// Whatever stands in the journal, it is read to some end, and the line that
// comes of it has each ticket once.
func FuzzLineJournal(f *testing.F) {
	l := newFakeLine()
	l.play(1, 8)
	good, ends := journalText(f, l)
	f.Add(good[ends[0]:], false)
	f.Add([]byte(`{"seq":1,"put":{"number":3},"before":3}`+"\n"+`{"seq":2,"drop":3}`), true)
	f.Add([]byte(`{"seq":1,"seen":18446744073709551615,"at":-1,"poll_ms":99999999999999}`), true)
	f.Fuzz(func(t *testing.T, lines []byte, sum bool) {
		text := bytes.Clone(good[:ends[0]])
		if sum { // let the fuzzer past the sums
			for one := range bytes.SplitSeq(lines, []byte("\n")) {
				text = append(text, sumLine(string(one))...)
			}
		} else {
			text = append(text, lines...)
		}
		s, _, err := replayLine(text, sampleLineOf(7, 5))
		if err != nil && !errors.Is(err, errForeign) {
			t.Fatalf("a good first line is refused: %v", err)
		}
		seen := map[uint64]bool{}
		for _, k := range s.Tickets {
			if n := k.Ticket.Number; n == 0 || seen[n] || n >= s.Next && n+1 != 0 {
				t.Fatalf("ticket %d: seen %v, next %d", n, seen[n], s.Next)
			}
			seen[k.Ticket.Number] = true
		}
	})
}

func sampleLineOf(id uint64, n int) line.Snapshot {
	s := sampleLine(n)
	s.Line = id
	return s
}

func BenchmarkLineJournal(b *testing.B) {
	f := newFakeLine()
	f.play(1, 5)
	var buf []byte
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = appendChange(buf[:0], &f.changes[0])
		}
	})
	text := journalHeadText(b)
	for n := range uint64(100_000) {
		c := line.Change{Sequence: n + 1, Kind: line.Put, Ticket: f.changes[0].Ticket}
		c.Ticket.Ticket.Number = n + 1
		text = appendChange(text, &c)
	}
	b.Run("replay-100k", func(b *testing.B) {
		for b.Loop() {
			if s, damaged, err := replayLine(text, begun()); err != nil || damaged || len(s.Tickets) != 100_000 {
				b.Fatal(len(s.Tickets), damaged, err)
			}
		}
	})
}

func journalHeadText(tb testing.TB) []byte {
	text, ends := journalText(tb, newFakeLine())
	return text[:ends[0]]
}
