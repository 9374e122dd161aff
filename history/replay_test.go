package history

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reqLine is a line about a request some time before now.
func reqLine(path string, before time.Duration) string {
	return fmt.Sprintf(`{"t":"req","at":%q,"ip":"192.0.2.1","method":"GET","path":%q,"status":200}`,
		time.Now().Add(-before).UTC().Format(time.RFC3339Nano), path)
}

// D83: a line that makes no sense costs no other line, wherever it stands.
func TestBadLines(t *testing.T) {
	f := func(name string, bad uint64, between string) {
		t.Helper()
		path := logFile(t)
		synctest.Test(t, func(t *testing.T) {
			write(t, path, reqLine("/before", time.Minute), between, reqLine("/behind", time.Second), "")
			l := open(t, path, nil)
			synctest.Wait()
			if got := shown(l.History, "192.0.2.1"); got != "200 /before; 200 /behind; " {
				t.Errorf("%s: %s", name, got)
			}
			if n := l.Stats().BadLines; n != bad {
				t.Errorf("%s: %d bad lines, want %d", name, n, bad)
			}
			l.stop()
		})
	}
	f("torn", 1, `{"t":"req","at":"2026-0`)
	f("blank", 0, "")
	f("zeros", 1, strings.Repeat("\x00", 4096))
	f("foreign", 1, `{"t":"new-kind","at":"2026-09-26T21:18:20Z"}`)
	f("another format", 2, "127.0.0.1 - - GET /\nnull")
	f("no time", 1, `{"t":"req","ip":"192.0.2.1","path":"/x"}`)
	f("no address", 1, `{"t":"req","at":"2026-09-26T21:18:20Z","ip":"x"}`)
	f("long", 1, `{"t":"req","path":"`+strings.Repeat("x", 3*maxLine)+`"}`)
	f("just as long as a buffer", 1, strings.Repeat("x", maxLine))
	f("number out of bounds", 1, `{"t":"req","at":"2026-09-26T21:18:20Z","ban":18446744073709551615}`)
	f("lift of nothing", 1, `{"t":"lift","at":"2026-09-26T21:18:20Z","ban":7}`)
	f("ban of nobody", 1, `{"t":"ban","at":"2026-09-26T21:18:20Z","ban":7,"target":"x","permanent":true}`)
	f("impossible ban", 1, `{"t":"ban","at":"2026-09-26T21:18:20Z","ban":7,"target":"192.0.2.1"}`)
}

// The first event after a crash does not join a torn line.
func TestTornEndIsClosed(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		write(t, path, reqLine("/before", time.Minute), `{"t":"req","at":"2026-0`)
		l := open(t, path, nil)
		l.Observe(visit("192.0.2.1", "/after", 200))
		l.stop()
		l = open(t, path, nil)
		synctest.Wait()
		if got := shown(l.History, "192.0.2.1"); got != "200 /before; 200 /after; " || l.Stats().BadLines != 1 {
			t.Errorf("%s, %d bad lines", got, l.Stats().BadLines)
		}
		l.stop()
	})
}

func TestOldRequestsAreSkipped(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		write(t, path, reqLine("/old", Keep), reqLine("/new", Keep-time.Second), reqLine("/future", -time.Hour), "")
		l := open(t, path, nil)
		synctest.Wait()
		if got := shown(l.History, "192.0.2.1"); got != "200 /new; 200 /future; " {
			t.Error(got)
		}
		l.stop()
	})
}

// TestRoomsOutliveARestart: a request's room is kept, on disk as well, and the
// default one is not mentioned.
func TestRoomsOutliveARestart(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, nil)
		inRoom := visit("192.0.2.1", "/pay", 200)
		inRoom.Room = "checkout"
		l.Observe(inRoom)
		l.Observe(visit("192.0.2.1", "/", 200))
		l.stop()
		text, err := os.ReadFile(path)
		if err != nil || strings.Count(string(text), `"room":"checkout"`) != 1 || strings.Count(string(text), `"room"`) != 1 {
			t.Errorf("%v, the file has:\n%s", err, text)
		}
		again := open(t, path, nil)
		synctest.Wait()
		v, _ := again.Client(key("192.0.2.1"), time.Now())
		if len(v.Entries) != 2 || v.Entries[0].Room != "" || v.Entries[1].Room != "checkout" {
			t.Errorf("after a restart: %+v", v.Entries)
		}
		again.stop()
	})
}

func TestOldestFileFirst(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		for n := range olderFiles + 1 {
			write(t, (&writer{path: path}).older(n), reqLine(fmt.Sprint("/", n), time.Duration(n)*time.Minute), "")
		}
		l := open(t, path, nil)
		synctest.Wait()
		if got := shown(l.History, "192.0.2.1"); got != "200 /4; 200 /3; 200 /2; 200 /1; 200 /0; " {
			t.Error(got)
		}
		l.stop()
	})
}

// A restart neither duplicates a ban nor gives a number twice, ends in the
// books what has ended, and admits what it does not know.
func TestBansAcrossARestart(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		l := open(t, path, nil)
		synctest.Wait()
		l.Banned(banned("192.0.2.1/32", now, now.Add(time.Hour)))   // 1 goes on
		l.Banned(banned("192.0.2.2/32", now, time.Time{}))          // 2 is lifted meanwhile
		l.Banned(banned("192.0.2.3/32", now, now.Add(time.Second))) // 3 runs out
		l.Banned(banned("192.0.2.4/32", now, time.Time{}))          // 4 is lifted by an operator
		l.Lifted(key("192.0.2.4"), now, "operator")
		time.Sleep(2 * time.Second)
		l.Observe(blocked("192.0.2.1", "/a"))
		l.stop()

		inForce := []Ban{banned("192.0.2.1/32", now, now.Add(time.Hour)), banned("192.0.2.5/32", now, time.Time{})} // 5 is news
		l = open(t, path, func(o *Options) { o.InForce = inForce })
		l.Observe(blocked("192.0.2.1", "/b")) // before the files have been read, perhaps
		synctest.Wait()
		l.Banned(banned("192.0.2.6/32", time.Now(), time.Time{})) // 6
		check := func(when string) {
			t.Helper()
			var got []string
			for _, b := range l.Bans(time.Now()) {
				got = append(got, fmt.Sprint(b.Number, " ", b.Target[8:], " ", b.State, " ", b.LiftedBy, " ", b.Requests, " ", !b.Begin.IsZero()))
			}
			want := "[6 6 permanent  0 true 5 5 permanent  0 false 1 1 active  2 true]"
			old := "[4 4 lifted operator 0 true 3 3 expired  0 true 2 2 lifted restart 0 true]"
			all := strings.Join(got, " ")
			for _, part := range []string{want, old} {
				for _, line := range strings.Split(strings.Trim(part, "[]"), " true ") {
					if !strings.Contains(all, strings.TrimSuffix(line, " true")) {
						t.Errorf("%s: %s lacks %q", when, all, line)
					}
				}
			}
			if len(got) != 6 {
				t.Errorf("%s: %d bans, want 6: %s", when, len(got), all)
			}
		}
		check("after a restart")
		if got := shown(l.History, "192.0.2.1"); got != "429 /a blocked by 1; 429 /b blocked by 1; " {
			t.Error(got)
		}
		l.stop()
		if n := kinds(read(t, path)); n[kindBan] != 7 || n[kindLift] != 2 { // the state of 2 again, with its lift
			t.Errorf("%d lines about bans and %d lifts, want 7 and 2", n[kindBan], n[kindLift])
		}
		l = open(t, path, func(o *Options) { o.InForce = append(inForce, banned("192.0.2.6/32", now, time.Time{})) })
		synctest.Wait()
		check("after another")
		l.stop()
	})
}

// What is seen while the files are still being read comes behind what they say.
func TestVisitsDuringTheReplay(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		write(t, path, reqLine("/1", time.Hour), reqLine("/2", time.Minute), "")
		h := New(Options{Settings: Settings{On: true}, File: path})
		h.Observe(visit("192.0.2.1", "/3", 200))
		v := visit("192.0.2.1", "/4", 200)
		v.R.Header.Set("User-Agent", "another")
		h.Observe(v)
		h.Banned(banned("192.0.2.7/32", time.Now(), time.Time{}))
		if b := h.Bans(time.Now()); b[0].Number != 0 || !h.Stats().Replaying {
			t.Error("a number was given before it is known which are free")
		}
		h.settle(h.writer.replay(time.Now()))
		if got := shown(h, "192.0.2.1"); got != "200 /1; 200 /2; 200 /3; 200 /4; " {
			t.Error(got)
		}
		c, _ := h.Client(key("192.0.2.1"), time.Now())
		if c.Requests != 4 || c.Newest.UA != "another" || c.Entries[1].UA != "curl/8.5" {
			t.Errorf("%+v", c)
		}
		if b := h.Bans(time.Now()); b[0].Number != 1 || h.Stats().Replaying {
			t.Errorf("%+v", b)
		}
	})
}

func TestAggregateCarriesTotals(t *testing.T) {
	r := newReplay(start)
	text, err := json.Marshal(event{T: kindAggregate, At: start, IP: "192.0.2.1", Ban: 4, Count: 70, Paths: map[string]uint64{"/a": 60}, OtherPaths: 10})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if !r.line(text) {
			t.Fatal("not read")
		}
	}
	w := r.numbers[4]
	got := []any{w.requests, w.paths, w.otherPaths, w.visitors[key("192.0.2.1")].requests, w.logged}
	want := []any{uint64(140), map[string]uint64{"/a": 120}, uint64(20), uint64(140), uint64(140)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
