package blackbox

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// crowd has so many visitors wait, and returns them in order.
func crowd(t *testing.T, p *launch.Process, n int) []*visitor {
	t.Helper()
	all := make([]*visitor, n)
	for i := range all {
		all[i] = newVisitor(t, p).at("203.0." + itoa(113+i/250) + "." + itoa(1+i%250))
		if got := all[i].page("/").position(t); got != i+1 {
			t.Fatalf("visitor %d has place %d", i+1, got)
		}
	}
	return all
}

// TestCleanRestartKeepsPlaces: positions are the same as before, and whoever
// comes then is behind all of them. Invariant 4.
func TestCleanRestartKeepsPlaces(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-room", "paused")
	all := crowd(t, p, 300)
	stop(t, p)
	p = startIn(t, dir, o.Addr(), "-room", "paused")
	late := newVisitor(t, p)
	if got := late.page("/").position(t); got != len(all)+1 {
		t.Errorf("invariant 4: a newcomer has place %d, want %d", got, len(all)+1)
	}
	for _, i := range rand.Perm(len(all)) {
		all[i].base = p.URL
		if got := all[i].page("/").position(t); got != i+1 {
			t.Fatalf("invariant 4: visitor %d has place %d after the restart", i+1, got)
		}
	}
	admin(t, p, http.MethodPatch, "/_room/settings", `{"room":"open","cap":10}`, 200)
	if a := all[0].comeIn("/"); !a.isOrigin() {
		t.Errorf("the first in line: status %d", a.status)
	}
}

// TestKillKeepsTheOrder: with no snapshot that holds them, those who ask again
// stand where they stood, before whoever comes then.
// That is invariant 4 through a crash.
func TestKillKeepsTheOrder(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-room", "paused")
	all := crowd(t, p, 100)
	rawtest.Until(t, "all are in the journal or in a snapshot", func() bool {
		return strings.Count(read(t, dir, "queue.journal"), `"put"`)+strings.Count(read(t, dir, "queue.snapshot"), `"number"`) >= len(all)
	})
	p.Kill()
	p = startIn(t, dir, o.Addr(), "-room", "paused")
	late := newVisitor(t, p)
	late.page("/")
	var back []int
	for _, i := range rand.Perm(len(all))[:60] { // the others have given up
		all[i].base = p.URL
		all[i].page("/")
		back = append(back, i)
	}
	for _, i := range back {
		if got := all[i].page("/").position(t); got != i+1 {
			t.Errorf("invariant 4: visitor %d has place %d", i+1, got)
		}
	}
	if got := late.page("/").position(t); got != len(all)+1 {
		t.Errorf("invariant 4: a newcomer has place %d, want %d", got, len(all)+1)
	}
}

// TestDamagedLineIsSetAside: Concert starts, says so, and tickets bring back
// who comes again.
func TestDamagedLineIsSetAside(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-room", "paused")
	all := crowd(t, p, 3)
	stop(t, p)
	text := read(t, dir, "queue.snapshot")
	write(t, dir, "queue.snapshot", strings.Replace(text, "203.0.113.2", "203.0.113.9", 1))
	p = startIn(t, dir, o.Addr(), "-room", "paused")
	logged(t, p, "queue.snapshot")
	if read(t, dir, "queue.snapshot.bad") == "" {
		t.Error("the damaged file was not kept")
	}
	for _, i := range []int{2, 0, 1} {
		all[i].base = p.URL
		all[i].page("/")
	}
	for i, v := range all {
		if got := v.page("/").position(t); got != i+1 {
			t.Errorf("visitor %d has place %d", i+1, got)
		}
	}
}
