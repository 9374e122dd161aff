package persist

import (
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// journalOf is a journal of one ban a line, and how many bytes are good after
// each.
func journalOf(t testing.TB, bans []Ban) (text []byte, ends []int) {
	t.Helper()
	text, err := appendLine(nil, journalHeader{bansVersion})
	ends = append(ends, len(text))
	for _, b := range bans {
		e := entryOf(b)
		var lineErr error
		text, lineErr = appendLine(text, journalLine{Set: &e})
		err = errors.Join(err, lineErr)
		ends = append(ends, len(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return text, ends
}

// A journal that is cut anywhere yields all lines that are whole, and says
// that the rest is missing.
func TestTornJournal(t *testing.T) {
	text, ends := journalOf(t, sampleBans())
	for cut := ends[0]; cut <= len(text); cut++ {
		whole := -1
		for _, end := range ends {
			if end <= cut {
				whole++
			}
		}
		found := make(map[netip.Prefix]Ban)
		torn, bad, err := readJournal(text[:cut], found)
		if err != nil || bad != 0 || (torn == 0) != slices.Contains(ends, cut) || len(found) != whole {
			t.Fatalf("cut at %d: %d bans, want %d; torn %d, bad %d, %v", cut, len(found), whole, torn, bad, err)
		}
	}
}

func TestDamagedJournal(t *testing.T) {
	good, ends := journalOf(t, sampleBans())
	flipped := slices.Clone(good)
	flipped[ends[1]+20] ^= 1
	tests := map[string]struct {
		text    string
		bans    int
		warning string // "" for an error
	}{
		"torn end":        {string(good[:len(good)-5]), 4, "torn"},
		"NUL at the end":  {string(good) + strings.Repeat("\x00", 4096), 5, "torn"},
		"damage inside":   {string(flipped), 4, "1 lines in it are damaged"},
		"empty":           {"", 0, ""},
		"NUL":             {strings.Repeat("\x00", 4096), 0, ""},
		"no first line":   {string(good[ends[0]:]), 0, ""},
		"cut first line":  {string(good[:ends[0]-3]), 0, ""},
		"a newer journal": {newerJournal(t), 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			put(t, path, bansJournalName, tt.text)
			d := openDir(t, path)
			b, saved, warnings, err := d.Bans()
			if tt.warning == "" {
				wantError(t, err, filepath.Join(path, bansJournalName), "move it away")
				if get(t, path, bansJournalName) != tt.text {
					t.Error("the file changed")
				}
				return
			}
			if err != nil || len(saved) != tt.bans || len(warnings) != 1 || !strings.Contains(warnings[0], tt.warning) {
				t.Fatalf("%d bans, warnings %q, %v", len(saved), warnings, err)
			}
			// The next save keeps both what was read and what could not be.
			put(t, path, bansJournalName+".bad", "an earlier one")
			b.Follow(all(saved...))
			if err := b.Sync(); err != nil {
				t.Fatal(err)
			}
			_, again, warnings := openBans(t, d)
			wantBans(t, again, saved)
			if warnings != nil || get(t, path, bansJournalName+".bad.2") != tt.text || get(t, path, bansJournalName+".bad") != "an earlier one" {
				t.Errorf("warnings %q, files %s", warnings, names(t, path))
			}
		})
	}
}

func newerJournal(t *testing.T) string {
	text, err := appendLine(nil, journalHeader{bansVersion + 1})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// No single flipped bit is ever taken for what was saved.
func TestFlippedBits(t *testing.T) {
	var file strings.Builder
	if err := writeBans(&file, sampleBans(), nil, epoch()); err != nil {
		t.Fatal(err)
	}
	flipped(t, file.String(), func(text []byte) bool {
		_, _, warnings, err := readBans(text)
		return err == nil && len(warnings) == 0
	})
	journal, _ := journalOf(t, sampleBans())
	flipped(t, string(journal), func(text []byte) bool {
		torn, bad, err := readJournal(text, make(map[netip.Prefix]Ban))
		return err == nil && torn+bad == 0
	})
}

// FuzzBans: what is read is what a save keeps, and the entries that are not
// read are kept as they are.
func FuzzBans(f *testing.F) {
	var good strings.Builder
	if err := writeBans(&good, sampleBans(), []asideEntry{{[]byte(`{"x":1}`), "why"}}, epoch()); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good.String()))
	for _, text := range damages(good.String()) {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"version":1,"clients":[{"client":"::/0","permanent":true,"offenses":1},null,{"client":"fe80::1%a"}],"ranges":[[]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		bans, aside, _, err := readBans(text)
		if err != nil {
			return
		}
		var again strings.Builder
		if err := writeBans(&again, bans, aside, epoch()); err != nil {
			t.Skip("a year that JSON cannot write:", err)
		}
		bans2, aside2, _, err := readBans([]byte(again.String()))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, again.String(), err)
		}
		if len(bans2) != len(bans) || len(aside2) != len(aside) {
			t.Fatalf("%d bans and %d aside became %d and %d: %q", len(bans), len(aside), len(bans2), len(aside2), again.String())
		}
	})
}

// FuzzJournal: reading a journal twice is reading it once.
func FuzzJournal(f *testing.F) {
	text, _ := journalOf(f, sampleBans())
	f.Add(text)
	f.Add(text[:len(text)-7])
	drop, err := appendLine(text, journalLine{Drop: "192.0.2.1"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(drop)
	f.Fuzz(func(t *testing.T, text []byte) {
		bans := make(map[netip.Prefix]Ban)
		if _, _, err := readJournal(text, bans); err != nil {
			return
		}
		once := fmt.Sprint(bans)
		if _, _, err := readJournal(text, bans); err != nil || fmt.Sprint(bans) != once {
			t.Fatalf("%v\nbecame\n%v (%v)", once, bans, err)
		}
	})
}
