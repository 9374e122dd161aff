package persist

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// registry stands for the one that bans come from.
type registry struct {
	file *Bans
	mu   sync.Mutex // guards bans
	bans map[netip.Prefix]Ban
}

func (r *registry) all(time.Time) []Ban {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Ban
	for _, b := range r.bans {
		all = append(all, b)
	}
	return all
}

func (r *registry) ban(b Ban) {
	r.mu.Lock()
	r.bans[b.Client] = b
	r.mu.Unlock()
	r.file.Record(b)
}

func (r *registry) lift(client string) {
	r.mu.Lock()
	delete(r.bans, prefix(client))
	r.mu.Unlock()
	r.file.Erase(prefix(client))
}

func nobody(time.Time) []Ban { return nil }

func all(bans ...Ban) func(time.Time) []Ban { return func(time.Time) []Ban { return bans } }

// openBans opens what has to be readable.
func openBans(t testing.TB, d *Dir) (*Bans, []Ban, []string) {
	t.Helper()
	b, saved, warnings, err := d.Bans()
	if err != nil {
		t.Fatal(err)
	}
	return b, saved, warnings
}

// newRegistry restores what is saved.
func newRegistry(t testing.TB, d *Dir) *registry {
	t.Helper()
	b, saved, _ := openBans(t, d)
	r := &registry{bans: make(map[netip.Prefix]Ban), file: b}
	for _, ban := range saved {
		r.bans[ban.Client] = ban
	}
	b.Follow(r.all)
	return r
}

func sampleBans() []Ban {
	return []Ban{
		{prefix("10.0.0.0/8"), epoch(), epoch().Add(time.Hour), 1, "operator", "a \"note\"\n<b>", "ops"},
		{prefix("192.0.2.1/32"), epoch(), time.Time{}, 3, "operator", "", "ops"},
		{prefix("192.0.2.2/32"), epoch(), epoch().Add(time.Minute), 2, "forged-pass", "", ""},
		{prefix("2001:db8::/32"), epoch(), time.Time{}, 1, "operator", "", "ops"},
		{prefix("2001:db8:1:2::/64"), epoch(), epoch().Add(time.Minute), 1, "ban-path", "/.env", ""},
	}
}

// wantBans wants what is read to be want, by client.
func wantBans(t testing.TB, got, want []Ban) {
	t.Helper()
	diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }))
	if diff != "" {
		t.Errorf("bans (-want +got)\n%s", diff)
	}
}

func TestBansAreKept(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	r := newRegistry(t, d)
	for _, b := range sampleBans() {
		r.ban(b)
	}
	r.ban(Ban{Client: prefix("192.0.2.9/32"), Until: epoch()})
	if err := r.file.Sync(); err != nil { // the first writes bans.json
		t.Fatal(err)
	}
	_, saved, warnings := openBans(t, d)
	wantBans(t, saved[:2], sampleBans()[:2])
	if len(saved) != 6 || warnings != nil {
		t.Errorf("%d bans, warnings %q", len(saved), warnings)
	}

	r.lift("192.0.2.9/32")
	r.ban(Ban{Client: prefix("198.51.100.7/32"), Offenses: 1})
	if err := r.file.Sync(); err != nil { // and from then on the journal
		t.Fatal(err)
	}
	if n := strings.Count(get(t, path, bansJournalName), "\n"); n != 3 {
		t.Errorf("%d lines in the journal, want 3", n)
	}
	_, saved, _ = openBans(t, d)
	if len(saved) != 6 || slices.ContainsFunc(saved, func(b Ban) bool { return b.Client == prefix("192.0.2.9/32") }) {
		t.Errorf("bans %v", saved)
	}
	wantNoFaults(t, d)
}

// Automatic bans are on disk within a second, and many cost one write.
func TestRunWritesWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir()
		d := openDir(t, path)
		r := newRegistry(t, d)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.file.Run(ctx) }() // ends with ctx
		time.Sleep(time.Second)
		for i := range 100 {
			r.ban(Ban{Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 32), Offenses: 1})
		}
		r.ban(Ban{Client: prefix("192.0.2.1/32"), Offenses: 2})
		time.Sleep(time.Second)
		if n := strings.Count(get(t, path, bansJournalName), "\n"); n != 101 {
			t.Errorf("%d lines in the journal, want a header and one for each client", n)
		}
		r.ban(Ban{Client: prefix("203.0.113.1/32"), Offenses: 1})
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !strings.Contains(get(t, path, bansJournalName), "203.0.113.1") {
			t.Error("the last ban was not written at the stop")
		}
	})
}

func TestLongJournalIsFoldedIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir()
		d := openDir(t, path)
		r := newRegistry(t, d)
		if err := r.file.Sync(); err != nil {
			t.Fatal(err)
		}
		for i := range 10_000 {
			r.ban(Ban{Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32), Offenses: 1, Cause: "forged-pass", Since: epoch()})
		}
		if err := r.file.Sync(); err != nil {
			t.Fatal(err)
		}
		if n := len(get(t, path, bansJournalName)); n < journalLeast {
			t.Fatalf("a journal of %d bytes is too short for this test", n)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.file.Run(ctx) }() // ends with ctx
		r.lift("10.0.0.1/32")
		time.Sleep(time.Second)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if n := strings.Count(get(t, path, bansJournalName), "\n"); n != 1 {
			t.Errorf("%d lines in the journal, want the header only", n)
		}
		if _, saved, _ := openBans(t, d); len(saved) != 9_999 {
			t.Errorf("%d bans", len(saved))
		}
	})
}

// A journal that goes with an older bans.json, as after a crash between the
// two writes, changes nothing.
func TestJournalIsReadTwice(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	r := newRegistry(t, d)
	if err := r.file.Sync(); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		r.ban(Ban{Client: prefix("192.0.2.1/32"), Offenses: i})
		r.ban(Ban{Client: prefix("192.0.2.2/32"), Offenses: i})
		if err := r.file.Sync(); err != nil {
			t.Fatal(err)
		}
		r.lift("192.0.2.2/32")
	}
	if err := r.file.Sync(); err != nil {
		t.Fatal(err)
	}
	journal := get(t, path, bansJournalName)
	newRegistry(t, d)
	again := newRegistry(t, d)
	if err := again.file.Sync(); err != nil {
		t.Fatal(err)
	}
	put(t, path, bansJournalName, journal)
	_, saved, _ := openBans(t, d)
	wantBans(t, saved, []Ban{{Client: prefix("192.0.2.1/32"), Offenses: 4}})
}

func TestRemovedJournalIsWrittenAgain(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	r := newRegistry(t, d)
	if err := r.file.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"192.0.2.1/32", "192.0.2.2/32"} {
		if err := removeFile(path, bansJournalName); err != nil {
			t.Fatal(err)
		}
		r.ban(Ban{Client: prefix(client), Offenses: 1})
		if err := r.file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if _, saved, warnings := openBans(t, d); len(saved) != 2 || warnings != nil {
		t.Errorf("bans %v, warnings %q", saved, warnings)
	}
}

func TestWritingBeforeFollowIsAnError(t *testing.T) {
	b, _, _ := openBans(t, openDir(t, t.TempDir()))
	wantError(t, b.Sync(), "Follow")
}

// While the disk fails, what is recorded piles up no further than a bound.
func TestPendingIsBounded(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	r := newRegistry(t, d)
	if err := r.file.Sync(); err != nil {
		t.Fatal(err)
	}
	for i := range pendingMost + 10 {
		r.ban(Ban{Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 32), Offenses: 1})
	}
	if n := len(r.file.pending); n != pendingMost {
		t.Errorf("%d pending", n)
	}
	if err := r.file.Sync(); err != nil {
		t.Fatal(err)
	}
	if _, saved, _ := openBans(t, d); len(saved) != pendingMost+10 {
		t.Errorf("%d bans saved", len(saved))
	}
}
