package history

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/pipeline"
)

// owners knows one address.
type owners struct{}

func (owners) Lookup(a netip.Addr) (ipinfo.Details, bool) {
	return ipinfo.Details{
		Addr: a, First: netip.MustParseAddr("203.0.113.0"), Last: netip.MustParseAddr("203.0.113.255"),
		ASN: 218785, Code: "LT", Description: "UAB Cherry Servers",
	}, a == netip.MustParseAddr("203.0.113.9")
}

// The line that operators know from the documentation.
func TestLineIsAsDocumented(t *testing.T) {
	w := newWindow(Ban{})
	w.number = 12
	e := requestEvent(&request{
		at: start, addr: netip.MustParseAddr("203.0.113.9"), method: "GET", path: "/.env", status: 429,
		latency: 83 * time.Microsecond, agent: "curl/8.5", triggered: true, ban: w,
	}, owners{})
	want := `{"t":"req","at":"2026-09-26T21:18:20.1Z","ip":"203.0.113.9","method":"GET","path":"/.env","status":429,"latency_us":83,"ua":"curl/8.5","triggered":true,"ban":12,"ess":{"cc":"LT","country":"Lithuania","n":218785,"asn":"AS218785","desc":"UAB Cherry Servers","range":"203.0.113.0/24","ip8":"0.3.86.161.203.0.113.9"}}` + "\n"
	if diff := cmp.Diff(want, string(appendEvent(nil, &e))); diff != "" {
		t.Error(diff)
	}
}

// Whatever a stranger sends is one line of printable text.
func TestForgedLines(t *testing.T) {
	path := logFile(t)
	l := open(t, path, nil)
	nasty := []string{"/\r\nFAKE", "/\x1b[31m", "/\"}\n{\"t\":\"lift\"", "/\x7f\u0085\u009b[2J\u2028", "/\xff\xfe\x00", "/<script>&"}
	for _, text := range nasty {
		v := visit("192.0.2.1", text, 200)
		v.R.Method = "GE\tT\n"
		v.R.Header.Set("User-Agent", text)
		l.Observe(v)
	}
	l.stop()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range strings.ReplaceAll(string(text), "\n", "") {
		if r < ' ' || 0x7f <= r && r <= 0x9f || r == '\u2028' {
			t.Errorf("%U in the file", r)
		}
	}
	events := read(t, path)
	if len(events) != len(nasty) || !strings.Contains(string(text), `"/<script>&"`) {
		t.Errorf("%d lines, want %d", len(events), len(nasty))
	}
	for i, e := range events {
		if want := strings.ToValidUTF8(nasty[i], "\uFFFD"); e.Path != want || e.UA != want {
			t.Errorf("path %q, agent %q; want %q", e.Path, e.UA, want)
		}
	}
}

func TestFileMode(t *testing.T) {
	path := logFile(t)
	write(t, path, "") // with mode 0644
	l := open(t, path, nil)
	l.Observe(visit("192.0.2.1", "/", 200))
	l.stop()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestLinesAreWrittenEverySecond(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, nil)
		defer l.stop()
		synctest.Wait()
		l.Observe(visit("192.0.2.1", "/", 200))
		time.Sleep(1001 * time.Millisecond)
		synctest.Wait()
		if n := len(read(t, path)); n != 1 {
			t.Errorf("%d lines after a second, want 1", n)
		}
	})
}

// A flood costs a hundred lines and then one a second, and its totals are those
// of the requests, also after a restart.
func TestFlood(t *testing.T) {
	const requests = 1_000_000
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, nil)
		l.Banned(banned("192.0.2.0/24", time.Now().Add(-time.Second), time.Time{}))
		visits := make([]*pipeline.Visit, 250)
		for i := range visits {
			visits[i] = blocked(fmt.Sprintf("192.0.2.%d", i%2), fmt.Sprint("/", i))
		}
		for i := range requests {
			if i%100_000 == 0 {
				time.Sleep(time.Second)
			}
			l.Observe(visits[i%len(visits)])
		}
		l.stop()
		events := read(t, path)
		n := kinds(events)
		if n[kindRequest] != 2*SingleLines || n[kindBan] != 1 || n[kindAggregate] < 2 || n[kindAggregate] > 2*12 {
			t.Errorf("lines %v", n)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 300_000 {
			t.Errorf("%d bytes, %v", info.Size(), err)
		}
		var inPaths uint64
		for _, e := range events {
			for _, n := range e.Paths {
				inPaths += n
			}
			inPaths += e.OtherPaths
		}
		if inPaths != requests-2*SingleLines {
			t.Errorf("%d requests by path, want %d", inPaths, requests-2*SingleLines)
		}
		for run := range 2 { // after one restart, and after another
			l = open(t, path, func(o *Options) { o.InForce = []Ban{banned("192.0.2.0/24", time.Now(), time.Time{})} })
			synctest.Wait()
			b, _ := l.Ban(1, time.Now())
			var byPath, byAddress uint64
			for _, n := range b.Paths {
				byPath += n
			}
			for _, n := range b.Addresses {
				byAddress += n
			}
			if b.Requests != requests || byPath+b.Others != requests || byAddress+b.Beyond != requests {
				t.Errorf("restart %d: %d requests, %d by path, %d by address; want %d", run, b.Requests, byPath+b.Others, byAddress+b.Beyond, requests)
			}
			if c, _ := l.Client(key("192.0.2.1"), time.Now()); c.Blocked != requests/2 {
				t.Errorf("restart %d: %d requests of one client, want %d", run, c.Blocked, requests/2)
			}
			l.stop()
		}
	})
}

// What does not fit the queue is counted, and blocked requests are not lost.
func TestOverflow(t *testing.T) {
	path := logFile(t)
	h := New(Options{Settings: Settings{On: true}, File: path}) // nobody runs it
	h.Banned(banned("10.0.0.0/8", time.Now().Add(-time.Second), time.Time{}))
	for range queueLength + 7 {
		h.Observe(visit("192.0.2.1", "/", 200))
	}
	for i := range 30 {
		h.Observe(blocked(fmt.Sprintf("10.0.0.%d", i), "/"))
	}
	if got := h.Stats().Dropped; got != 7 {
		t.Errorf("%d dropped, want 7", got)
	}
	h.settle(newReplay(time.Now()))
	h.writer.finish()
	var count uint64
	for _, e := range read(t, path) {
		count += e.Count
	}
	if count != 30 {
		t.Errorf("%d blocked requests in the file, want 30", count)
	}
}

// The state of bans is carried along, so that totals survive the oldest file.
func TestRotation(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		small := func(o *Options) { o.maxFile = 20_000 }
		l := open(t, path, small)
		began := time.Now().UTC()
		probe := blocked("192.0.2.1", "/.env")
		l.Banned(banned("192.0.2.1/32", probe.Start, time.Time{}))
		l.Observe(probe)
		time.Sleep(time.Second)
		for range 49 {
			l.Observe(blocked("192.0.2.1", "/wp-login.php"))
		}
		for i := range 2000 {
			l.Observe(visit("192.0.2.9", fmt.Sprint("/", i), 200))
		}
		l.stop()
		if n := l.Stats().Rotations; n < 5 {
			t.Fatalf("%d rotations", n)
		}
		for n := range olderFiles + 2 {
			info, err := os.Stat(l.writer.older(n))
			if kept := err == nil; kept != (n <= olderFiles) {
				t.Errorf("file %d: %v", n, err)
			} else if kept && (info.Size() > 20_000 || n > 0 && info.Size() < 15_000) {
				t.Errorf("file %d has %d bytes", n, info.Size())
			}
		}
		last := read(t, path)
		if e := last[0]; e.T != kindBan || e.Requests != 50 || last[1].T != kindTrigger {
			t.Errorf("the new file starts with %+v", e)
		}
		l = open(t, path, func(o *Options) { small(o); o.InForce = []Ban{banned("192.0.2.1/32", time.Now(), time.Time{})} })
		synctest.Wait()
		b, _ := l.Ban(1, time.Now())
		if b.Requests != 50 || !b.Begin.Equal(began) || b.Trigger == nil || b.Trigger.Path != "/.env" || b.Source != "forged-pass" {
			t.Errorf("%+v", b)
		}
		if c, _ := l.Client(key("192.0.2.9"), time.Now()); c.Newest.Path != "/1999" {
			t.Errorf("newest %+v", c.Newest)
		}
		l.stop()
	})
}

func TestDiskInTrouble(t *testing.T) {
	path := logFile(t)
	folder := path + ".d"
	write(t, folder, "in the way")
	synctest.Test(t, func(t *testing.T) {
		l := open(t, folder+"/history.jsonl", nil)
		l.Banned(banned("192.0.2.1/32", time.Now(), time.Time{}))
		time.Sleep(time.Second)
		for range 200 {
			l.Observe(blocked("192.0.2.1", "/"))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		st := l.Stats()
		if st.Trouble == "" || st.Failures < 5 || st.Failures > 8 {
			t.Errorf("%+v", st)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		time.Sleep(retryAfter + 2*time.Second)
		synctest.Wait()
		if st := l.Stats(); st.Trouble != "" || st.Dropped != 0 {
			t.Errorf("%+v", st)
		}
		l.stop()
		n := kinds(read(t, folder+"/history.jsonl"))
		if n[kindBan] != 1 || n[kindRequest] != 100 || n[kindAggregate] != 1 {
			t.Errorf("lines %v", n)
		}
	})
}

func TestFileMovedAway(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, nil)
		for _, name := range []string{"/a", "/b"} {
			l.Observe(visit("192.0.2.1", name, 200))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if err := os.Rename(path, path+".moved"); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path+".moved"); len(got) != 1 || got[0].Path != name {
				t.Errorf("%+v, want %s", got, name)
			}
		}
		l.stop()
	})
}

// TestLeavingRotatesNothing: the file is then another process's to rotate, and
// lines are still added to it.
func TestLeavingRotatesNothing(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, func(o *Options) { o.maxFile = 2000 })
		l.Leave(true)
		for i := range 100 {
			l.Observe(visit("192.0.2.9", fmt.Sprint("/", i), 200))
		}
		l.stop()
		if n := l.Stats().Rotations; n != 0 {
			t.Errorf("%d rotations", n)
		}
		if n := len(read(t, path)); n != 100 {
			t.Errorf("%d lines, want 100", n)
		}
	})
}
