package history

import (
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMaskText(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := maskText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f("203.0.113.9", "203.0.113.0/24")
	f("203.0.113.0/24", "203.0.113.0/24")
	f("10.0.0.0/8", "10.0.0.0/8")
	f("2001:db8:1:2::3", "2001:db8:1::/48")
	f("2001:db8:1:2::/64", "2001:db8:1::/48")
	f("::ffff:203.0.113.9", "203.0.113.0/24")
	f("nobody", "")
}

// After the time set, addresses are gone from memory and from every file.
func TestMasking(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		change := func(o *Options) { o.MaskAfter, o.Details, o.maxFile = 24*time.Hour, owners{}, 4000 }
		l := open(t, path, change)
		l.Banned(banned("203.0.113.9/32", time.Now(), time.Now().Add(time.Hour)))
		l.Banned(banned("203.0.113.77/32", time.Now(), time.Time{}))
		for i := range 30 { // enough for older files
			l.Observe(blocked("203.0.113.9", fmt.Sprint("/early", i)))
			l.Observe(visit("2001:db8:1:2::3", "/early", 200))
		}
		time.Sleep(20 * time.Hour)
		l.Observe(visit("2001:db8:1:2::3", "/late", 200))
		l.Observe(blocked("203.0.113.77", "/late"))
		time.Sleep(2 * time.Hour)
		if !inFiles(t, l, "203.0.113.9") || shown(l.History, "203.0.113.9") == "" {
			t.Error("masked too early")
		}
		time.Sleep(4 * time.Hour)
		synctest.Wait()
		for _, gone := range []string{`"203.0.113.9"`, "203.0.113.9/32", "2001:db8:1:2::3\",\"method\":\"GET\",\"path\":\"/early", `.203.0.113.9"`} {
			if inFiles(t, l, gone) {
				t.Errorf("%s is still in a file", gone)
			}
		}
		for _, kept := range []string{"203.0.113.0/24", "2001:db8:1::/48", "203.0.113.77", "2001:db8:1:2::3"} {
			if !inFiles(t, l, kept) {
				t.Errorf("%s is in no file", kept)
			}
		}
		check := func(when string) {
			t.Helper()
			if got := shown(l.History, "203.0.113.9") + shown(l.History, "2001:db8:1:2::3"); got != "200 /late; " {
				t.Errorf("%s: %s", when, got)
			}
			network, _ := l.Client(netip.MustParsePrefix("2001:db8:1::/48"), time.Now())
			v4, _ := l.Client(netip.MustParsePrefix("203.0.113.0/24"), time.Now())
			if network.Requests != 30 || network.Entries[0].IP != "2001:db8:1::" || v4.Blocked != 30 || v4.Entries[0].Ban != 1 {
				t.Errorf("%s: %+v, %+v", when, network, v4)
			}
			over, _ := l.Ban(1, time.Now())
			holds, _ := l.Ban(2, time.Now())
			if over.Target != "203.0.113.0/24" || over.Requests != 30 || over.Addresses["203.0.113.0/24"] != 30 || holds.Target != "203.0.113.77" {
				t.Errorf("%s: %+v, %+v", when, over, holds)
			}
		}
		check("after the time set")
		l.stop()
		l = open(t, path, func(o *Options) { change(o); o.InForce = []Ban{banned("203.0.113.77/32", time.Now(), time.Time{})} })
		synctest.Wait()
		check("after a restart")
		l.stop()
	})
}

func inFiles(t *testing.T, l *logged, text string) bool {
	t.Helper()
	for n := range olderFiles + 1 {
		file, err := os.ReadFile(l.writer.older(n))
		if err == nil && strings.Contains(string(file), text) {
			return true
		}
	}
	return false
}

// A file that is masked while it is written goes on.
func TestMaskingKeepsWriting(t *testing.T) {
	path := logFile(t)
	synctest.Test(t, func(t *testing.T) {
		l := open(t, path, func(o *Options) { o.MaskAfter = time.Hour })
		for i := range 10 {
			l.Observe(visit("192.0.2.1", fmt.Sprint("/", i), 200))
			time.Sleep(time.Hour)
		}
		l.stop()
		var got []string
		for _, e := range read(t, path) {
			got = append(got, e.Path)
		}
		if want := "[/0 /1 /2 /3 /4 /5 /6 /7 /8 /9]"; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	})
}
