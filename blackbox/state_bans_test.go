package blackbox

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestBansSurviveKill: an operator's ban is on disk before the answer, others
// within a second, and lifting is kept just the same.
func TestBansSurviveKill(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	args := []string{"-ban-paths", "/.env", "-abuse-cooldown", "1h"}
	p := startIn(t, dir, o.Addr(), args...)
	get(t, p, "203.0.113.1", "/.env")
	rawtest.Until(t, "the ban is on disk", func() bool { return strings.Contains(savedBans(t, dir), "203.0.113.1") })
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.4","permanent":true}`, 200)
	admin(t, p, http.MethodDelete, "/_room/abuse?client=203.0.113.4", "", 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.2","permanent":true}`, 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"198.51.100.0/24","duration":"2h"}`, 200)
	p.Kill()

	p = startIn(t, dir, o.Addr(), args...)
	for _, client := range []string{"203.0.113.1", "203.0.113.2", "198.51.100.77"} {
		if !banned(t, p, client) {
			t.Errorf("%s is not banned any more", client)
		}
	}
	for _, client := range []string{"203.0.113.3", "203.0.113.4"} {
		if banned(t, p, client) {
			t.Errorf("%s is banned", client)
		}
	}
	admin(t, p, http.MethodDelete, "/_room/abuse?client=203.0.113.2", "", 200)
	p.Kill()

	p = startIn(t, dir, o.Addr(), append(args, "-abuse-allow", "203.0.113.1")...)
	if banned(t, p, "203.0.113.2") || banned(t, p, "203.0.113.1") || !banned(t, p, "198.51.100.77") {
		t.Error("a ban that was lifted or is exempt is back, or another one is gone")
	}
	if trail := read(t, dir, "audit.jsonl"); strings.Count(trail, `"what":"ban"`) != 3 || strings.Count(trail, `"what":"unban"`) != 2 {
		t.Errorf("the audit trail:\n%s", trail)
	}
}

// savedBans is what the files say of bans. One that came before the first write
// of a process is in bans.json, all others are in the journal until it is folded.
func savedBans(t *testing.T, dir string) string {
	t.Helper()
	return read(t, dir, "bans.json") + read(t, dir, "bans.journal")
}

// TestDamagedBansStopTheStart, rather than lift bans that were made to last.
func TestDamagedBansStopTheStart(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr())
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.2","permanent":true}`, 200)
	stop(t, p)
	p = startIn(t, dir, o.Addr()) // folds the journal into the file
	stop(t, p)
	whole := read(t, dir, "bans.json")
	if !strings.Contains(whole, "203.0.113.2") {
		t.Fatalf("bans.json:\n%s", whole)
	}
	for name, text := range map[string]string{
		"cut": whole[:len(whole)/2], "empty": "", "zeros": strings.Repeat("\x00", len(whole)), "shape": `{"version":1,"clients":{}}`,
	} {
		write(t, dir, "bans.json", text)
		status, _, stderr := exit(t, nil, "-upstream", "http://"+o.Addr(), "-listen", "127.0.0.1:0", "-data-dir", dir)
		if status == 0 || !strings.Contains(stderr, filepath.Join(dir, "bans.json")) {
			t.Errorf("%s: exit status %d, %q; want the file named", name, status, stderr)
		}
		if read(t, dir, "bans.json") != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	write(t, dir, "bans.json", whole)
	if p = startIn(t, dir, o.Addr()); !banned(t, p, "203.0.113.2") {
		t.Error("the ban is gone")
	}
}
