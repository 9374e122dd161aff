package blackbox

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCtl goes through the commands on a running Concert.
func TestCtl(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p, portal := startPortal(t, dir, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	all := crowd(t, p, 2)
	env := []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_PORTAL_LISTEN=" + strings.TrimPrefix(portal, "http://")}
	ctl := func(want int, says string, args ...string) string {
		t.Helper()
		status, stdout, stderr := exit(t, env, append([]string{"ctl"}, args...)...)
		if status != want || !strings.Contains(stdout+stderr, says) || want != 0 && stderr == "" {
			t.Errorf("ctl %q: status %d, want %d and %q:\n%s%s", args, status, want, says, stdout, stderr)
		}
		return stdout
	}
	ctl(0, "in line     2, of whom", "stats")
	ctl(0, "queued_total", "stats", "-all")
	ctl(0, "1", "cap")
	ctl(0, "room: paused, was open", "pause")
	ctl(0, "room: open, was paused", "resume")
	ctl(0, "nothing changes", "resume")
	var q struct{ Occupants []struct{ ID string } }
	if err := json.Unmarshal([]byte(ctl(0, "", "queue", "-json")), &q); err != nil || len(q.Occupants) != 2 {
		t.Fatal(q, err)
	}
	first, second := q.Occupants[0].ID, q.Occupants[1].ID
	ctl(0, second, "queue")
	ctl(0, "1 visitor is ahead of them", "queue", second)
	ctl(1, "is not in line", "queue", "203.0.113.77")
	ctl(1, "is no address", "queue", "nonsense")
	ctl(0, second+" is at place 1", "promote", second)
	ctl(1, "no such visitor", "promote", "00000000000000ff")
	ctl(2, "concert ctl queue WHO finds one", "promote", second, "nonsense")
	ctl(2, `"192.0.2.1" is no id`, "remove", "192.0.2.1")
	ctl(0, "is removed", "remove", first)
	ctl(1, "removed already", "remove", first)
	if a := all[0].page("/"); a.status != 403 {
		t.Errorf("who was removed: %d", a.status)
	}
	ctl(0, "203.0.113.9 is banned until", "ban", "203.0.113.9", "-for", "2h", "-note", "\x1b[31mred")
	if out := ctl(0, "203.0.113.9", "bans"); strings.Contains(out, "\x1b") {
		t.Errorf("a note reaches the terminal as it is: %q", out)
	}
	if !banned(t, p, "203.0.113.9") {
		t.Error("not banned")
	}
	ctl(0, "not banned any more", "unban", "203.0.113.9")
	ctl(1, "is not banned", "unban", "203.0.113.9")
	ctl(1, "exempt", "ban", "127.0.0.1", "-permanent")
	ctl(0, "there are no rooms", "rooms")
	ctl(2, "-new takes -kind site", "rooms", "-new", "till", "cap=1")
	ctl(0, "done", "rooms", "-new", "till", "-kind", "site", "paths=/hold/*,/till", "cap=3", "name=The till")
	ctl(0, "/hold/*, /till", "rooms")
	ctl(0, "done", "rooms", "till", "cap=4", "message=Cards only.")
	ctl(0, "inside    0 of 4", "rooms", "till")
	ctl(0, "done", "rooms", "till", "-do", "pause")
	ctl(0, "paused", "rooms", "till")
	ctl(1, "cap 0: want a whole number from 1", "rooms", "till", "cap=0")
	ctl(2, "want MEMBER=VALUE", "rooms", "till", "cap")
	ctl(1, "there is no room", "rooms", "nothing")
	ctl(1, "want pause, resume, open or reset", "rooms", "till", "-do", "dance")
	ctl(0, "done", "rooms", "till", "-delete")
	ctl(0, "cap: would be 9, was 1", "settings", "cap=9", "-dry-run")
	ctl(0, "retry_after: 7, was 5", "settings", "retry_after=7", "message=hello there")
	ctl(0, `"hello there"`, "settings", "message")
	ctl(0, "message: (empty), was hello there", "settings", "-reset", "message")
	ctl(0, "message: hello there", "settings", "-undo")
	ctl(1, `cap "0": want a number`, "cap", "0")
	ctl(0, "cap: 3, was 1", "cap", "3")
	if stats(t, p).Cap != 3 {
		t.Error("the cap is not in force")
	}
	if trail := read(t, dir, "audit.jsonl"); !strings.Contains(trail, `"who":"token"`) || !strings.Contains(trail, `"what":"promote"`) {
		t.Errorf("the trail:\n%s", trail)
	}
}

// TestCtlSaysWhatIsWrong: each kind of trouble has its own exit status.
func TestCtlSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p, portal := startPortal(t, "", o.Addr())
	for _, tt := range []struct {
		token, url string
		args       []string
		status     int
		says       string
	}{
		{adminToken, portal, nil, 2, "which command"},
		{adminToken, portal, []string{"frob"}, 2, `no command "frob"`},
		{adminToken, portal, []string{"cap", "many"}, 2, "whole number"},
		{adminToken, portal, []string{"ban"}, 2, "missing"},
		{adminToken, portal, []string{"rooms", "-url", "x"}, 2, "-url stands before the command"},
		{adminToken, portal, []string{"stats", "more"}, 2, "too much"},
		{adminToken, portal, []string{"settings", "-undo", "cap"}, 2, "by itself"},
		{adminToken, portal, []string{"settings", "nope"}, 1, "no setting"},
		{"", portal, []string{"stats"}, 2, "CONCERT_ADMIN_TOKEN is not set"},
		{"wrong", portal, []string{"stats"}, 1, "does not accept the token"},
		{adminToken, p.URL, []string{"stats"}, 1, "is -url that of the portal"},
		{adminToken, "http://127.0.0.1:1", []string{"stats"}, 3, "nothing listens"},
		{adminToken, portal, []string{"-help"}, 0, "promote ID"},
	} {
		status, stdout, stderr := exit(t, []string{"CONCERT_ADMIN_TOKEN=" + tt.token}, append([]string{"ctl", "-url", tt.url}, tt.args...)...)
		if status != tt.status || !strings.Contains(stdout+stderr, tt.says) {
			t.Errorf("ctl %q: status %d, want %d and %q:\n%s%s", tt.args, status, tt.status, tt.says, stdout, stderr)
		}
	}
}
