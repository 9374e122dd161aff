package blackbox

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCapSurvivesRestarts: what an operator changed beats the flag from then
// on, whatever the end of the process, until it is reset.
func TestCapSurvivesRestarts(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "9")
	if got := stats(t, p).Cap; got != 9 {
		t.Errorf("cap %d, want the flag's", got)
	}
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":7}`, 200)
	p.Kill()
	p = startIn(t, dir, o.Addr(), "-cap", "9")
	if value, source := setting(t, p, "cap"); stats(t, p).Cap != 7 || value != "7" || source != "file" {
		t.Errorf("after kill -9: cap %s from %s, want 7 from the file", value, source)
	}
	if _, stdout, _ := exit(t, nil, "check", "-cap", "9", "-data-dir", dir); !strings.Contains(stdout, "  file  ") {
		t.Errorf("check does not show the stored cap:\n%s", stdout)
	}
	admin(t, p, http.MethodPatch, "/_room/settings", `{"cap":null}`, 200)
	stop(t, p)
	p = startIn(t, dir, o.Addr(), "-cap", "9")
	if value, source := setting(t, p, "cap"); value != "9" || source != "flag" {
		t.Errorf("after the reset: cap %s from %s, want 9 from the flag", value, source)
	}
}

// TestSettingsAPI goes through what an operator can do to the settings.
func TestSettingsAPI(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "3", quick)
	o.fill(t, p, 3)
	newVisitor(t, p).page("/")

	text := admin(t, p, http.MethodPatch, "/_room/settings?dry-run=1", `{"cap":1,"room":"paused","stream_cap":5}`, 200)
	for _, want := range []string{
		`"dry_run":true`, `{"key":"cap","from":"3","to":"1","from_source":"flag","to_source":"file"}`,
		`{"key":"cap","count":2,"text":"3 page requests are at the origin; nobody is let in until 3 of them are done"}`,
		`{"key":"room","count":1,`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the dry run does not say %s:\n%s", want, text)
		}
	}
	if stats(t, p).Cap != 3 || read(t, dir, "settings.json") != "" || read(t, dir, "audit.jsonl") != "" {
		t.Error("a dry run changed something")
	}

	admin(t, p, http.MethodPatch, "/_room/settings", `{"cap":4,"ban_paths":["/.env"],"retry_after":"9"}`, 200)
	if s := get(t, p, "203.0.113.7", "/.env").Status(); s != "429" {
		t.Errorf("a ban path that was just set: status %s", s)
	}
	before := read(t, dir, "settings.json")
	for _, body := range []string{`{"cap":5,"room":"ajar"}`, `{"cap":5,"listen":":1"}`, `{"cap":5,"cpa":1}`, `{"cap":0}`, `{}`, `[]`, `{"cap":5}{}`, `{"cap":`, ``} {
		admin(t, p, http.MethodPatch, "/_room/settings", body, 400)
	}
	if stats(t, p).Cap != 4 || read(t, dir, "settings.json") != before {
		t.Error("a change that was refused was made in part")
	}

	admin(t, p, http.MethodPatch, "/_room/settings", `{"retry_after":null}`, 200)
	if value, source := setting(t, p, "retry_after"); source != "default" {
		t.Errorf("after the reset: %s from %s", value, source)
	}
	admin(t, p, http.MethodPost, "/_room/settings/undo", "", 200)
	if value, source := setting(t, p, "retry_after"); value != "9" || source != "file" {
		t.Errorf("after the undo: %s from %s, want 9 from the file", value, source)
	}
	trail := read(t, dir, "audit.jsonl")
	for _, want := range []string{
		`"who":"token","client":"127.0.0.1","what":"settings"`, `{"key":"cap","from":"3","to":"4"}`, `"what":"undo"`,
	} {
		if !strings.Contains(trail, want) {
			t.Errorf("the audit trail lacks %s:\n%s", want, trail)
		}
	}
	if n := strings.Count(trail, "\n"); n != 3 {
		t.Errorf("%d acts in the trail, want 3:\n%s", n, trail)
	}
	if status, _ := call(t, http.MethodGet, p.URL+"/_room/settings", "", ""); status != http.StatusUnauthorized {
		t.Errorf("settings without the token: %d", status)
	}
	if text := admin(t, p, http.MethodGet, "/_room/settings", "", 200); strings.Contains(text, stateSecret) || strings.Contains(text, adminToken) {
		t.Error("the settings show a secret")
	}
}

// TestSettingsInMemory: without a directory, changes last as long as the
// process, and no file is written.
func TestSettingsInMemory(t *testing.T) {
	o := newOrigin(t)
	work := t.TempDir()
	t.Chdir(work)
	p := start(t, o.Addr(), "-cap", "9")
	admin(t, p, http.MethodPost, "/_room/settings/undo", "", 409)
	admin(t, p, http.MethodPatch, "/_room/settings", `{"cap":4}`, 200)
	admin(t, p, http.MethodPost, "/_room/settings/undo", "", 200)
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":5}`, 200)
	if got := stats(t, p).Cap; got != 5 {
		t.Errorf("cap %d, want 5", got)
	}
	stop(t, p)
	left, err := os.ReadDir(work)
	if err != nil || len(left) != 0 {
		t.Errorf("files were written: %v %v", left, err)
	}
}

// TestDamagedSettingsStopTheStart, and the file is left as it is.
func TestDamagedSettingsStopTheStart(t *testing.T) {
	o := newOrigin(t)
	for name, tt := range map[string]struct{ text, names string }{
		"cut":      {`{"version":1,"settings":{"cap":7`, "settings.json"},
		"empty":    {"", "settings.json"},
		"zeros":    {strings.Repeat("\x00", 512), "settings.json"},
		"shape":    {`["cap"]`, "settings.json"},
		"newer":    {`{"version":9,"settings":{}}`, "version"},
		"value":    {`{"version":1,"settings":{"cap":0}}`, "cap"},
		"relation": {`{"version":1,"settings":{"upstream":"ftp://x"}}`, "upstream"},
	} {
		dir := dataDir(t)
		write(t, dir, "settings.json", tt.text)
		status, _, stderr := exit(t, nil, "-upstream", "http://"+o.Addr(), "-listen", "127.0.0.1:0", "-data-dir", dir)
		if status == 0 || !strings.Contains(stderr, filepath.Join(dir, "settings.json")) || !strings.Contains(stderr, tt.names) {
			t.Errorf("%s: exit status %d, %q; want the file and %s named", name, status, stderr, tt.names)
		}
		if read(t, dir, "settings.json") != tt.text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// TestWarningsBesideProblems: a mistyped variable may be what explains them.
func TestWarningsBesideProblems(t *testing.T) {
	status, _, stderr := exit(t, []string{"CONCERT_CAPCITY=5"}, "-cap", "0")
	if status != 2 || !strings.Contains(stderr, "-cap") || !strings.Contains(stderr, "did you mean CONCERT_CAPACITY?") {
		t.Errorf("exit status %d, %q", status, stderr)
	}
}

// TestOneProcessPerDirectory: the second one is told who has it.
func TestOneProcessPerDirectory(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr())
	status, _, stderr := exit(t, nil, "-upstream", "http://"+o.Addr(), "-listen", "127.0.0.1:0", "-data-dir", dir)
	if status == 0 || !strings.Contains(stderr, dir) || !strings.Contains(stderr, strings.TrimSpace(read(t, dir, "lock"))) {
		t.Errorf("exit status %d, %q; want the directory and the process named", status, stderr)
	}
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("the first one: status %d", a.status)
	}
	p.Kill()
	startIn(t, dir, o.Addr()) // the lock ended with its process
}
