package persist

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// banBatch is how long an automatic ban may wait for others, so that a
	// flood of bans costs a few syncs a second. They are on disk within a
	// second.
	banBatch = 250 * time.Millisecond
	// journalLeast is the length in bytes at which a journal is worth being
	// folded into bans.json, however small that is.
	journalLeast = 1 << 20
	// pendingMost is how many changes wait for a failing disk; beyond that
	// only all of bans.json, written anew, brings it up to date.
	pendingMost = 100_000
)

// Bans is bans.json with its journal.
//
// A registry tells it of changes (Record, Erase), which Run writes within a
// second, and Sync at once. What was not written yet when the disk failed is
// tried again.
type Bans struct {
	dir  *Dir
	wake chan struct{} // has room for one

	mu       sync.Mutex // guards the fields below
	pending  map[netip.Prefix]journalLine
	overflow bool // pending is not all that is missing on disk
	all      func(time.Time) []Ban

	writing sync.Mutex // guards the fields below, and is taken before mu
	journal appendFile
	rewrite bool         // bans.json has to be written before the journal grows
	damaged []byte       // a journal that has to be set aside before that
	aside   []asideEntry // carried along
	saved   int64        // bytes of bans.json
}

// Bans opens the bans and returns those that are saved, by client.
//
// Entries that cannot be read have no effect, are reported in warnings, one
// line each, and stay in the file. The error names a file that leaves nothing
// to trust: Concert should not start then, since it would lift bans that were
// made to last.
func (d *Dir) Bans() (b *Bans, saved []Ban, warnings []string, err error) {
	b = &Bans{dir: d, wake: make(chan struct{}, 1), pending: make(map[netip.Prefix]journalLine)}
	b.journal = appendFile{dir: d, name: bansJournalName}
	found := make(map[netip.Prefix]Ban)
	warnings, err = b.load(found)
	if err != nil {
		return nil, nil, nil, err
	}
	saved = slices.Collect(maps.Values(found))
	slices.SortFunc(saved, func(x, y Ban) int { return x.Client.Compare(y.Client) })
	return b, saved, warnings, nil
}

// load reads both files into found.
func (b *Bans) load(found map[netip.Prefix]Ban) (warnings []string, err error) {
	path := b.dir.file(BansName)
	text, ok, err := b.dir.readFile(BansName, maxBans)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if ok {
		bans, aside, notes, err := readBans(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: correct the file, or move it away to start without any bans", path, err)
		}
		for _, ban := range bans {
			found[ban.Client] = ban
		}
		b.aside, b.saved = aside, int64(len(text))
		for _, note := range notes {
			warnings = append(warnings, path+": "+note)
		}
	}
	note, err := b.loadJournal(found)
	if note != "" {
		warnings = append(warnings, note)
	}
	return warnings, err
}

// loadJournal reads the journal over found.
func (b *Bans) loadJournal(found map[netip.Prefix]Ban) (warning string, err error) {
	b.rewrite = true // what the journal holds is folded in by the first write
	path := b.dir.file(bansJournalName)
	text, ok, err := b.dir.readFile(bansJournalName, maxBans)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if !ok {
		return "", nil
	}
	torn, bad, err := readJournal(text, found)
	if err != nil {
		return "", fmt.Errorf("%s: %w: it holds the latest bans; move it away to start without them", path, err)
	}
	if torn+bad == 0 {
		return "", nil
	}
	b.damaged = text
	if bad == 0 {
		return fmt.Sprintf("%s: its end was torn, as by a crash: changes of the last second may be missing; kept as %s", path, badName(bansJournalName)), nil
	}
	return fmt.Sprintf("%s: %d lines in it are damaged and have no effect; kept as %s", path, bad+torn, badName(bansJournalName)), nil
}

// badName is what a damaged file is kept as.
func badName(name string) string { return name + ".bad" }

// Follow says where all bans can be had when bans.json is written anew. Call
// it once, before anything is recorded; a change must show in all before it is
// recorded.
func (b *Bans) Follow(all func(now time.Time) []Ban) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = all
}

// Record takes down a client's latest ban. It does not wait for the disk.
func (b *Bans) Record(ban Ban) {
	e := entryOf(ban)
	b.add(ban.Client, journalLine{Set: &e})
}

// Erase takes down that nothing is known of the client any more.
func (b *Bans) Erase(client netip.Prefix) {
	b.add(client, journalLine{Drop: clientText(client)})
}

func (b *Bans) add(client netip.Prefix, l journalLine) {
	if b.dir.path == "" {
		return
	}
	b.mu.Lock()
	if _, known := b.pending[client]; known || len(b.pending) < pendingMost {
		b.pending[client] = l
	} else {
		b.overflow = true
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default: // Run has yet to look
	}
}

// Run writes what is recorded until ctx ends, and once more then. The error is
// that of the last write: what it could not save is lost with the process.
func (b *Bans) Run(ctx context.Context) error {
	err := b.Sync() // folds the journal of the earlier process in
	return writeBehind(ctx, b.wake, banBatch, err, func() error { return b.write(true) }, b.Sync)
}

// Sync writes what is recorded. When it returns nil, all that was recorded
// before the call is on disk.
func (b *Bans) Sync() error { return b.write(false) }
