package history

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// child names the file for a process of this test that is to be killed.
const child = "CONCERT_TEST_HISTORY_FILE"

// The process that is killed: it records as fast as it can, in files so small
// that it rotates all the time, and says how many blocked requests have been
// written for certain whenever it has rotated.
func runChild(path string) {
	h := New(Options{
		Settings: Settings{On: true}, File: path, maxFile: 30_000, Log: slog.New(slog.DiscardHandler),
		InForce: []Ban{banned("192.0.2.0/24", time.Now(), time.Time{})},
	})
	h.settle(h.writer.replay(time.Now()))
	b, _ := h.Ban(1, time.Now())
	for n := b.Requests; ; n++ {
		h.Observe(blocked("192.0.2.1", "/wp-login.php"))
		h.Observe(visit("198.51.100.1", fmt.Sprint("/", n), 200))
		for len(h.queue) > 0 {
			q := <-h.queue
			h.writer.addRequest(&q)
		}
		if n%50 == 0 {
			h.writer.tick(time.Now())
			fmt.Println(n + 1)
		}
	}
}

// Killed at any moment, in the middle of a rotation too, the files lose at most
// what was not said to be written, and the next process goes on.
func TestKill(t *testing.T) {
	if path := os.Getenv(child); path != "" {
		runChild(path)
	}
	path := logFile(t)
	var written, bad uint64
	for kill := range 6 {
		written = killChild(t, path, 40+7*kill)
		l := open(t, path, func(o *Options) {
			o.InForce = []Ban{banned("192.0.2.0/24", time.Now(), time.Time{})}
		})
		l.stop()
		b, _ := l.Ban(1, time.Now())
		if b.Requests < written {
			t.Errorf("after kill %d: %d blocked requests, %d were written", kill, b.Requests, written)
		}
		// The other client's requests are numbered by the blocked ones, of which
		// two aggregates at most can be missing.
		c, _ := l.Client(key("198.51.100.1"), time.Now())
		n, err := strconv.ParseUint(c.Newest.Path[1:], 10, 64)
		if off := max(n, b.Requests) - min(n, b.Requests); err != nil || off > 101 || len(c.Entries) != EntriesPerClient {
			t.Errorf("after kill %d: %d blocked requests, %d by the other client's, %v", kill, b.Requests, n, err)
		}
		if n := len(l.Bans(time.Now())); n != 1 {
			t.Errorf("after kill %d: %d bans, want 1", kill, n)
		}
		if bad = l.Stats().BadLines; bad > uint64(kill)+1 {
			t.Errorf("after kill %d: %d bad lines", kill, bad)
		}
	}
	if _, err := os.Stat(path + ".4"); err != nil {
		t.Error(err)
	}
}

// killChild runs a child until it has reported so many times, and kills it.
func killChild(t *testing.T, path string, reports int) (written uint64) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), child+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for range reports {
		if !in.Scan() {
			t.Fatal("the child ended by itself")
		}
		if _, err := fmt.Sscan(in.Text(), &written); err != nil {
			t.Fatal(err)
		}
	}
	kill()
	_ = cmd.Wait() // killed
	return written
}
