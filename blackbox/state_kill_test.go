package blackbox

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// killRounds is how often the loop kills Concert: 10, or what
// BLACKBOX_KILL_ROUNDS says.
func killRounds(t *testing.T) int {
	text := os.Getenv("BLACKBOX_KILL_ROUNDS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("BLACKBOX_KILL_ROUNDS is %q: want a number of rounds", text)
	}
	return n
}

// acts are what operators did in a round, and what they were told.
type acts struct {
	p    *launch.Process
	kill func() // once enough was acknowledged

	mu        sync.Mutex // guards the fields below
	acked     int
	enough    int
	caps      []int           // the one before the round, and those sent by several at once
	queue     [2]int          // max_queue: the last acknowledged, and the one on its way
	bans      map[string]bool // acknowledged: true for banned, false for lifted
	uncertain map[string]bool // sent, and not acknowledged
}

// send sends an act; told reports whether it was acknowledged.
func (a *acts) send(ctx context.Context, method, path, body string, told func()) bool {
	req, err := http.NewRequestWithContext(ctx, method, a.p.URL+path, strings.NewReader(body))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false // killed
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	told()
	if a.acked++; a.acked == a.enough {
		go a.kill() // ends when the process has ended; the others are in the midst of it
	}
	return true
}

// note changes the record of what was sent.
func (a *acts) note(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// setCaps sends one cap after the other until the process is gone.
func (a *acts) setCaps(ctx context.Context, who int) {
	for i := 0; ; i++ {
		n := 1000*who + i + 1
		a.note(func() { a.caps = append(a.caps, n) })
		if !a.send(ctx, http.MethodPost, "/_room/cap", fmt.Sprintf(`{"cap":%d}`, n), func() {}) {
			return
		}
	}
}

// setQueue does the same alone with a setting, so that the order is known.
func (a *acts) setQueue(ctx context.Context) {
	for n := a.queue[0] + 1; ; n++ {
		a.note(func() { a.queue[1] = n })
		if !a.send(ctx, http.MethodPatch, "/_room/settings", fmt.Sprintf(`{"max_queue":%d}`, n), func() { a.queue[0] = n }) {
			return
		}
	}
}

// banAndLift bans one client after the other, and lifts every third ban.
func (a *acts) banAndLift(ctx context.Context, round int) {
	for i := 0; ; i++ {
		client := fmt.Sprintf("198.18.%d.%d", round, i)
		a.note(func() { a.uncertain[client] = true })
		told := func(banned bool) func() {
			return func() { a.bans[client] = banned; delete(a.uncertain, client) }
		}
		if !a.send(ctx, http.MethodPost, "/_room/abuse", `{"client":"`+client+`","permanent":true}`, told(true)) {
			return
		}
		if i%3 != 2 {
			continue
		}
		a.note(func() { a.uncertain[client] = true })
		if !a.send(ctx, http.MethodDelete, "/_room/abuse?client="+client, "", told(false)) {
			return
		}
	}
}

// TestKillLoop kills Concert in the midst of writing, again and again: it
// always starts, what was acknowledged holds, and nobody loses their place.
// Invariant 4.
func TestKillLoop(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	a := &acts{queue: [2]int{1000, 1000}, bans: map[string]bool{}, uncertain: map[string]bool{}}
	var waiting []*visitor
	a.p = startIn(t, dir, o.Addr(), "-room", "paused")
	admin(t, a.p, http.MethodPatch, "/_room/settings", `{"max_queue":1000}`, 200)
	for round := range killRounds(t) {
		for range 3 {
			waiting = append(waiting, newVisitor(t, a.p).at("203.0.113."+itoa(1+round%250)))
			waiting[len(waiting)-1].page("/")
		}
		a.round(t, round)
		if left, err := filepath.Glob(filepath.Join(dir, "*.tmp-*")); err != nil || len(left) > 8 {
			t.Errorf("half-written files pile up: %q %v", left, err)
		}
		a.p = startIn(t, dir, o.Addr(), "-room", "paused")
		a.check(t)
		for _, i := range rand.Perm(len(waiting)) {
			waiting[i].base = a.p.URL
			waiting[i].page("/")
		}
		for i, v := range waiting {
			if got := v.page("/").position(t); got != i+1 {
				t.Fatalf("invariant 4: round %d: visitor %d has place %d", round, i+1, got)
			}
		}
		noneHalfWritten(t, dir)
	}
}

// noneHalfWritten waits until dir holds no half-written file: what a kill left
// is removed at the start, and what the running process is just replacing is
// there for a moment.
func noneHalfWritten(t *testing.T, dir string) {
	t.Helper()
	deadline := within(t, 20*time.Second)
	for {
		left, err := filepath.Glob(filepath.Join(dir, "*.tmp-*"))
		if err == nil && len(left) == 0 {
			return
		}
		select {
		case <-deadline.Done():
			t.Fatalf("half-written files stay: %q %v", left, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// round has operators act until the process is killed.
func (a *acts) round(t *testing.T, round int) {
	t.Helper()
	a.acked, a.enough, a.caps = 0, 1+rand.IntN(40), []int{stats(t, a.p).Cap}
	a.kill = a.p.Kill
	var operators sync.WaitGroup
	for who := range 6 { // eight operators with those below
		operators.Go(func() { a.setCaps(t.Context(), 1+who) })
	}
	operators.Go(func() { a.setQueue(t.Context()) })
	operators.Go(func() { a.banAndLift(t.Context(), round) })
	operators.Wait()
	<-a.p.Exited()
}

// check compares what the next process knows with what was acknowledged.
func (a *acts) check(t *testing.T) {
	t.Helper()
	if got := stats(t, a.p).Cap; !slices.Contains(a.caps, got) {
		t.Errorf("cap %d was never sent", got)
	}
	value, _ := setting(t, a.p, "max_queue")
	got, err := strconv.Atoi(value)
	if err != nil || got != a.queue[0] && got != a.queue[1] {
		t.Errorf("max_queue %s, want %d or %d", value, a.queue[0], a.queue[1])
	}
	a.queue[0] = got // from now on
	var list struct{ Bans []struct{ Client string } }
	if err := json.Unmarshal([]byte(admin(t, a.p, http.MethodGet, "/_room/abuse", "", 200)), &list); err != nil {
		t.Fatal(err)
	}
	banned := map[string]bool{}
	for _, b := range list.Bans {
		banned[b.Client] = true
	}
	for client, want := range a.bans {
		if !a.uncertain[client] && banned[client] != want {
			t.Errorf("%s: banned is %v, and %v was acknowledged", client, banned[client], want)
		}
	}
	for client := range a.uncertain { // whatever it is now, it stays
		a.bans[client] = banned[client]
	}
	clear(a.uncertain)
}
