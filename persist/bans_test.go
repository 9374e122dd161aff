package persist

import (
	"context"
	"net/netip"
	"path/filepath"
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

func TestBansForm(t *testing.T) {
	path := t.TempDir()
	var text strings.Builder
	if err := writeBans(&text, sampleBans(), []asideEntry{{[]byte(`{"x":1}`), "why"}}, epoch()); err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"saved":"2026-11-30T12:00:00Z",
"clients":[
{"client":"192.0.2.1","since":"2026-11-30T12:00:00Z","permanent":true,"offenses":3,"cause":"operator","by":"ops"},
{"client":"192.0.2.2","since":"2026-11-30T12:00:00Z","until":"2026-11-30T12:01:00Z","offenses":2,"cause":"forged-pass"},
{"client":"2001:db8:1:2::/64","since":"2026-11-30T12:00:00Z","until":"2026-11-30T12:01:00Z","offenses":1,"cause":"ban-path","note":"/.env"}],
"ranges":[
{"client":"10.0.0.0/8","since":"2026-11-30T12:00:00Z","until":"2026-11-30T13:00:00Z","offenses":1,"cause":"operator","note":"a \"note\"\n\u003cb\u003e","by":"ops"},
{"client":"2001:db8::/32","since":"2026-11-30T12:00:00Z","permanent":true,"offenses":1,"cause":"operator","by":"ops"}],
"aside":[
{"entry":{"x":1},"why":"why"}],
`
	got, sum, _ := strings.Cut(text.String(), `"sum"`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(sum) != len(`:"01234567"}`)+1 {
		t.Errorf("sum %q", sum)
	}
	put(t, path, BansName, text.String())
	_, saved, warnings := openBans(t, openDir(t, path))
	wantBans(t, saved, sampleBans())
	if len(warnings) != 1 || !strings.Contains(warnings[0], `{\"x\":1}`) {
		t.Errorf("warnings %q", warnings)
	}
}

// A file of the least form is read: whoever wrote it.
func TestPlainBansAreRead(t *testing.T) {
	path := t.TempDir()
	put(t, path, BansName, `{"version":1,"saved":"2026-01-01T00:00:00Z","clients":[
		{"client":"192.0.2.1","permanent":true,"offenses":1},
		{"client":"2001:db8::5/64","until":"2026-11-30T12:00:00Z","offenses":2}],"ranges":[]}`)
	_, saved, warnings := openBans(t, openDir(t, path))
	wantBans(t, saved, []Ban{
		{Client: prefix("192.0.2.1/32"), Offenses: 1},
		{Client: prefix("2001:db8::/64"), Until: epoch(), Offenses: 2},
	})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "edited or damaged") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestDamagedBansAreAnError(t *testing.T) {
	var good strings.Builder
	if err := writeBans(&good, sampleBans(), nil, epoch()); err != nil {
		t.Fatal(err)
	}
	tests := damages(good.String())
	tests["no ranges"] = `{"version":1,"clients":[]}`
	tests["clients of another shape"] = `{"version":1,"clients":{},"ranges":[]}`
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			put(t, path, BansName, text)
			_, _, _, err := openDir(t, path).Bans()
			wantError(t, err, filepath.Join(path, BansName), "correct the file, or move it away")
			if got := get(t, path, BansName); got != text {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

// One entry that cannot be read is reported, has no effect, and outlives every
// save; corrected, it counts again.
func TestBadEntriesAreCarriedAlong(t *testing.T) {
	path := t.TempDir()
	put(t, path, BansName, `{"version":1,"clients":[
		{"client":"192.0.2.300","permanent":true,"offenses":1},
		{"client":"192.0.2.1","offenses":1},
		{"client":"192.0.2.2","permanent":true,"until":"2026-11-30T12:00:00Z","offenses":1},
		{"client":"192.0.2.3","permanent":true,"offenses":-1},
		{"client":"192.0.2.4","permanent":true,"offenses":"many"},
		17,
		{"client":"192.0.2.5","permanent":true,"offenses":1}],"ranges":[]}`)
	d := openDir(t, path)
	for round := range 2 {
		r := newRegistry(t, d)
		_, saved, warnings := openBans(t, d)
		wantBans(t, saved, []Ban{{Client: prefix("192.0.2.5/32"), Offenses: 1}})
		if n := len(warnings) + round; n != 7 { // the first time the sum is missing, too
			t.Errorf("round %d: warnings %q", round, warnings)
		}
		if err := r.file.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	put(t, path, BansName, strings.Replace(get(t, path, BansName), "192.0.2.300", "192.0.2.30", 1))
	_, saved, _ := openBans(t, d)
	wantBans(t, saved, []Ban{{Client: prefix("192.0.2.5/32"), Offenses: 1}, {Client: prefix("192.0.2.30/32"), Offenses: 1}})
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
