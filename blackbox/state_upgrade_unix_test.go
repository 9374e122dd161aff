//go:build unix

package blackbox

import (
	"errors"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// takeOver has a new process take over, and returns when it has. The new one
// ends with the test.
func takeOver(t *testing.T, p *launch.Process) {
	t.Helper()
	old, said := serving(t, p), strings.Count(p.Stderr(), "another process has taken over")
	if err := syscall.Kill(old, syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "a new process has taken over", func() bool {
		return strings.Count(p.Stderr(), "another process has taken over") > said
	})
	http.DefaultClient.CloseIdleConnections() // they are the old one's
	next := serving(t, p)
	if next == old {
		t.Fatal("the new process does not say that it listens")
	}
	t.Cleanup(func() { _ = syscall.Kill(next, syscall.SIGKILL) }) // it may have ended
}

var listeningProcess = regexp.MustCompile(`msg=listening .* pid=(\d+)\n`)

// serving is the process that began to listen last.
func serving(t *testing.T, p *launch.Process) int {
	t.Helper()
	all := listeningProcess.FindAllStringSubmatch(p.Stderr(), -1)
	if len(all) == 0 {
		t.Fatal("no process says that it listens")
	}
	pid, err := strconv.Atoi(all[len(all)-1][1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestUpgradeKeepsEverything: places, passes, bans, changed settings, and the
// pages in flight; and the cap counts what the old process still has.
// Invariants 1 and 4.
func TestUpgradeKeepsEverything(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "9", quick)
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":2}`, 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.200","permanent":true}`, 200)
	c := rawtest.Dial(t, p.Addr)
	c.Send("GET /hold HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
	o2 := rawtest.Dial(t, p.Addr)
	o2.Send("GET /hold HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
	rawtest.Until(t, "both are at the origin", func() bool { return len(o.Requests()) == 2 })
	all := crowd(t, p, 20)

	takeOver(t, p)
	if got := stats(t, p); got.Cap != 2 || got.Occupancy != 2 || got.QueueDepth != 20 {
		t.Errorf("cap %d, %d in flight, %d wait; want 2, 2 of the old process, 20", got.Cap, got.Occupancy, got.QueueDepth)
	}
	for i, v := range all {
		if got := v.follow().page("/").position(t); got != i+1 {
			t.Errorf("invariant 4: visitor %d has place %d", i+1, got)
		}
	}
	if !banned(t, p, "203.0.113.200") {
		t.Error("the ban is gone")
	}
	o.letGo()
	o.letGo()
	for _, c := range []*rawtest.Client{c, o2} {
		if r := c.ReadResponse("GET"); r.Status() != "200" || r.Err != nil {
			t.Errorf("a page in flight: status %s, %v", r.Status(), r.Err)
		}
	}
	if a := all[0].comeIn("/"); !a.isOrigin() {
		t.Errorf("the first in line: status %d", a.status)
	}
	logged(t, p, "msg=stopped")
	if got := strings.TrimSpace(read(t, dir, "lock")); got != strconv.Itoa(serving(t, p)) {
		t.Errorf("the lock names process %s, not the one that serves", got)
	}
	admin(t, p, http.MethodPost, "/_room/settings/undo", "", 200)
	if value, source := setting(t, p, "cap"); value != "9" || source != "flag" {
		t.Errorf("after an undo of what the old process saved: cap %s from %s", value, source)
	}
}

// TestUpgradeServesTheDoor: who stands at the old process's door is let in
// there, and the new one counts that.
func TestUpgradeServesTheDoor(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "1", "-door-wait", "20s")
	if a := newVisitor(t, p).page("/"); !a.isOrigin() { // teaches the line that pages are short
		t.Fatalf("an empty room does not let in: status %d", a.status)
	}
	o.fill(t, p, 1)
	stands := newVisitor(t, p)
	atDoor := later(func() answer { return stands.page("/hold/door") })
	rawtest.Until(t, "the visitor stands at the door", func() bool { return stats(t, p).AtDoor == 1 })
	takeOver(t, p)

	late := newVisitor(t, p)
	next := later(func() answer { return late.page("/late") })
	rawtest.Until(t, "a newcomer is known to the new process", func() bool {
		f := stats(t, p)
		return f.AtDoor == 1 || f.QueueDepth == 2
	})
	o.letGo()
	rawtest.Until(t, "the door's visitor is at the origin", func() bool { return countLines(o, "GET /hold/door HTTP/1.1") == 1 })
	if n := countLines(o, "GET /late HTTP/1.1"); n != 0 {
		t.Error("invariant 1: the new process let somebody in beyond the cap")
	}
	o.letGo()
	if a := <-atDoor; !a.isOrigin() {
		t.Errorf("the door's visitor: status %d, %.100q", a.status, a.body)
	}
	if a := <-next; !a.isOrigin() && !late.comeIn("/late").isOrigin() {
		t.Errorf("the newcomer: status %d", a.status)
	}
}

// TestOldProcessIsKilled: what it had at the origin does not count for ever.
func TestOldProcessIsKilled(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	takeOver(t, p)
	v := newVisitor(t, p)
	if a := v.page("/"); !a.isWaitingPage() {
		t.Fatalf("status %d, want the waiting page, as the old process has the slot", a.status)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if a := v.comeIn("/"); !a.isOrigin() {
		t.Errorf("status %d", a.status)
	}
}

// TestUpgradeWithoutDirectory: what is in memory only goes along as well, with
// the keys that nobody set.
func TestUpgradeWithoutDirectory(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-room", "paused")
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":2}`, 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.200","permanent":true}`, 200)
	all := crowd(t, p, 5)
	takeOver(t, p)
	if value, source := setting(t, p, "cap"); value != "2" || source != "file" || !banned(t, p, "203.0.113.200") {
		t.Errorf("cap %s from %s, or the ban is gone", value, source)
	}
	for i, v := range all {
		if got := v.follow().page("/").position(t); got != i+1 {
			t.Errorf("visitor %d has place %d", i+1, got)
		}
	}
}

// TestUpgradeThatFails: a new binary that does not start costs nothing.
func TestUpgradeThatFails(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "3")
	write(t, dir, "settings.json", "broken by hand")
	if err := p.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	logged(t, p, "no other process took over")
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("status %d", a.status)
	}
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":2}`, 409) // not over the edit
	if err := os.Remove(dir + "/settings.json"); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":2}`, 200)
}

// TestHangUpReadsSettingsAgain: an edit by hand is taken up, a broken one is
// not, and what takes a restart is named.
func TestHangUpReadsSettingsAgain(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	envFile := t.TempDir() + "/concert.env"
	variables := func(text string) {
		if err := os.WriteFile(envFile, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	variables("CONCERT_MAX_QUEUE=50\n")
	p := startIn(t, dir, o.Addr(), "-env-file", envFile)
	hangUp := func(said string) {
		t.Helper()
		seen := strings.Count(p.Stderr(), said)
		if err := p.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		rawtest.Until(t, said, func() bool { return strings.Count(p.Stderr(), said) > seen })
	}
	write(t, dir, "settings.json", `{"version":1,"settings":{"cap":6}}`)
	variables("CONCERT_MAX_QUEUE=60\nCONCERT_IDLE_TIMEOUT=7s\n")
	hangUp("settings read again")
	logged(t, p, "changes with the next start")
	if value, source := setting(t, p, "max_queue"); stats(t, p).Cap != 6 || value != "60" || source != "env" {
		t.Errorf("cap %d, max_queue %s from %s", stats(t, p).Cap, value, source)
	}
	write(t, dir, "settings.json", `{"version":1,"settings":{"cap":0}}`)
	hangUp("the settings stay as they were")
	if got := stats(t, p).Cap; got != 6 {
		t.Errorf("cap %d after a broken edit, want 6", got)
	}
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":7}`, 409)
	write(t, dir, "settings.json", `{"version":1,"settings":{"cap":8}}`)
	hangUp("settings read again")
	admin(t, p, http.MethodPatch, "/_room/settings", `{"max_queue":70}`, 200)
	if got := stats(t, p).Cap; got != 8 {
		t.Errorf("cap %d, want 8", got)
	}
}

// TestUpgradeKeepsRooms: a room's places, and its cap while the old process still
// has a page of it.
func TestUpgradeKeepsRooms(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-cap", "5", "-door-max", "0", "-rooms", holdRoom)
	occupy(t, o, p)
	v := newVisitor(t, p).follow()
	v.page("/hold/pay")
	takeOver(t, p)
	if got := roomStats(t, p); got.Occupancy != 1 || got.QueueDepth != 1 {
		t.Errorf("%d in flight and %d wait, want 1 and 1", got.Occupancy, got.QueueDepth)
	}
	if got := v.page("/hold/pay").position(t); got != 1 {
		t.Errorf("who waited has place %d", got)
	}
	o.openAll()
	if got := v.comeIn("/hold/pay"); !got.isOrigin() {
		t.Errorf("who waited: status %d", got.status)
	}
}
