package persist

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/andreimerlescu/concert/line"
)

// sampleLine is a line of n tickets.
func sampleLine(n int) line.Snapshot {
	s := line.Snapshot{Taken: epoch(), Next: uint64(n) + 1}
	for i := range n {
		s.Tickets = append(s.Tickets, line.SavedTicket{
			Ticket:   line.Ticket{Number: uint64(i) + 1, Issued: epoch().Add(-time.Duration(n-i) * time.Millisecond)},
			Client:   netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32),
			LastSeen: epoch().Add(-time.Duration(i%5000) * time.Millisecond),
			Polled:   i%7 != 0,
			Promoted: i%100 == 0, Rank: uint8(i % 7), Absent: i%5 == 0,
		})
	}
	return s
}

func equatePrefix() cmp.Option {
	return cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })}
}

func TestLineIsKept(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	s := SavedLine{sampleLine(5), true}
	s.Line, s.Sequence, s.Lost = 5, 6, []line.Span{{From: 7, To: 9}}
	s.Tickets[3].AtDoor, s.Tickets[3].PollAfter = true, 1500*time.Millisecond
	s.Tickets[1].Client = prefix("2001:db8:1:2::/64")
	s.Tickets[2].Client = netip.Prefix{}
	if err := d.SaveLine(s); err != nil {
		t.Fatal(err)
	}
	got, err := d.LoadLine()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got, equatePrefix()); diff != "" {
		t.Error(diff)
	}
	if err := d.BeginLine(got.Snapshot); err != nil {
		t.Fatal(err)
	}
	again, err := d.LoadLine()
	got.Clean = false
	if diff := cmp.Diff(got, again, equatePrefix()); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestLineForm(t *testing.T) {
	var text strings.Builder
	if err := WriteLine(&text, SavedLine{sampleLine(2), true}); err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"exported_at":"2026-11-30T12:00:00Z","clean":true,"next":3,"count":2,"tickets":[
{"number":1,"created_at":"2026-11-30T11:59:59.998Z","last_seen":"2026-11-30T12:00:00.000Z","client_key":"10.0.0.0","polled":false,"promoted":true,"absent":true},
{"number":2,"created_at":"2026-11-30T11:59:59.999Z","last_seen":"2026-11-30T11:59:59.999Z","client_key":"10.0.0.1","polled":true,"promoted":false,"rank":1}
],
"sum":"`
	if got, ok := strings.CutPrefix(text.String(), want); !ok || len(got) != len("01234567\"}\n") {
		t.Error(cmp.Diff(want, text.String()))
	}
}

func TestNoLine(t *testing.T) {
	got, err := openDir(t, t.TempDir()).LoadLine()
	if err != nil || got.Clean || len(got.Tickets) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A line that cannot be read is set aside, and the start goes on.
func TestDamagedLineIsSetAside(t *testing.T) {
	var good strings.Builder
	if err := WriteLine(&good, SavedLine{sampleLine(20), true}); err != nil {
		t.Fatal(err)
	}
	for name, text := range damages(good.String()) {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			put(t, path, lineName, text)
			got, err := openDir(t, path).LoadLine()
			wantError(t, err, filepath.Join(path, lineName), "kept as queue.snapshot.bad")
			if got.Clean || len(got.Tickets) != 0 {
				t.Errorf("got %+v", got)
			}
			if get(t, path, lineName+".bad") != text || names(t, path) != "lock queue.snapshot.bad" {
				t.Errorf("files %s", names(t, path))
			}
		})
	}
}

func TestFlippedLine(t *testing.T) {
	var good strings.Builder
	if err := WriteLine(&good, SavedLine{sampleLine(5), true}); err != nil {
		t.Fatal(err)
	}
	flipped(t, good.String(), func(text []byte) bool {
		_, err := ReadLine(text)
		return err == nil
	})
}

// What has a right sum and a wrong form was not written by Concert.
func TestForeignLine(t *testing.T) {
	for text, want := range map[string]string{
		`{"version":2,"tickets":[` + "\n]":                                                 "newer Concert",
		`{"version":1,"count":1,"tickets":[` + "\n]":                                       "0 tickets, not 1",
		`{"version":1,"count":-1,"tickets":[` + "\n]":                                      "0 tickets, not -1",
		`{"version":1,"count":1,"tickets":[` + "\n{]\n]":                                   "ticket 1: invalid",
		`{"version":1,"count":1,"tickets":[` + "\n" + `{"client_key":"everybody"}` + "\n]": "is no address",
		`{"version":"x","tickets":[` + "\n]":                                               "cannot unmarshal",
		`{"version":1`:                                                                     `no "tickets"`,
	} {
		var b strings.Builder
		s := newSummer(&b)
		if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := s.finish(); err != nil {
			t.Fatal(err)
		}
		_, err := ReadLine([]byte(b.String()))
		wantError(t, err, want)
	}
}

// The line is saved every so often, but not over and over while it is empty.
func TestKeepLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir()
		d := openDir(t, path)
		var now atomic.Pointer[line.Snapshot]
		be := func(n int) {
			s := sampleLine(n)
			now.Store(&s)
		}
		be(3)
		taken := 0
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { // ends with ctx
			defer close(done)
			d.KeepLine(ctx, 10*time.Second, LineSource{Take: func() (line.Snapshot, error) {
				taken++
				if taken == 2 {
					return line.Snapshot{}, errors.New("away")
				}
				return *now.Load(), nil
			}})
		}()
		next := time.Millisecond // the first is saved at once
		saved := func() string {
			time.Sleep(next)
			synctest.Wait()
			next = 10 * time.Second
			s, err := d.LoadLine()
			if err != nil || s.Clean {
				t.Fatal(s.Clean, err)
			}
			if _, err := os.Stat(filepath.Join(path, lineName)); err != nil {
				return "none"
			}
			_ = os.Remove(filepath.Join(path, lineName))
			return strings.Repeat("t", len(s.Tickets))
		}
		if got := saved(); got != "ttt" {
			t.Errorf("saved %q", got)
		}
		if got := saved(); got != "none" || len(d.Faults()) != 1 {
			t.Errorf("saved %q, faults %v", got, d.Faults())
		}
		be(0)
		if got := saved(); got != "" || d.Faults() != nil {
			t.Errorf("saved %q, faults %v", got, d.Faults())
		}
		if got := saved(); got != "none" {
			t.Errorf("saved %q though the line stayed empty", got)
		}
		be(1)
		if got := saved(); got != "t" {
			t.Errorf("saved %q", got)
		}
		stop()
		<-done
	})
}

func FuzzLine(f *testing.F) {
	var good strings.Builder
	if err := WriteLine(&good, SavedLine{sampleLine(3), true}); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good.String()), false)
	body, _, _ := strings.Cut(good.String(), ",\n\"sum\"")
	f.Add([]byte(body), true)
	f.Add([]byte(`{"version":1,"count":1,"tickets":[`+"\n{}\n]"), true)
	f.Fuzz(func(t *testing.T, text []byte, sum bool) {
		if sum { // let the fuzzer past the sum
			var b strings.Builder
			s := newSummer(&b)
			if _, err := s.Write(text); err != nil || s.finish() != nil {
				t.Fatal("a builder fails")
			}
			text = []byte(b.String())
		}
		saved, err := ReadLine(text)
		if err != nil {
			return
		}
		var again strings.Builder
		if err := WriteLine(&again, saved); err != nil {
			t.Skip("a year that JSON cannot write:", err)
		}
		got, err := ReadLine([]byte(again.String()))
		if err != nil || len(got.Tickets) != len(saved.Tickets) {
			t.Fatalf("%q became %q: %v", text, again.String(), err)
		}
	})
}

// Both ways of reading a ticket agree on every text.
func FuzzTicket(f *testing.F) {
	for _, t := range sampleLine(8).Tickets {
		f.Add(string(appendTicket(nil, &t)))
	}
	f.Add(`{"number":01,"created_at":"2026-11-30T11:59:59.998Z","last_seen":"2026-11-30T12:00:00.000Z","polled":false,"promoted":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.TrimSuffix(text, "\n")
		fast, ok := scanTicket([]byte(text))
		if !ok {
			return
		}
		slow, err := parseTicket([]byte(text + " ")) // which the scanner leaves alone
		if diff := cmp.Diff(slow, fast, equatePrefix()); diff != "" || err != nil {
			t.Fatalf("%q: %v\n%s", text, err, diff)
		}
	})
}

func TestTicketsAreScanned(t *testing.T) {
	for _, ticket := range sampleLine(8).Tickets {
		got, ok := scanTicket(appendTicket(nil, &ticket))
		if diff := cmp.Diff(ticket, got, equatePrefix()); diff != "" || !ok {
			t.Error(diff, ok)
		}
	}
}
