//go:build unix

package persist

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/line"
)

// crashDir names the directory that the test program, started as a child,
// writes into until it is killed.
const crashDir = "PERSIST_CRASH_DIR"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashDir); path != "" {
		fmt.Println("failed:", writeForEver(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForEver saves state number n, n+1, … in every file, and says which one
// is safe after each. It goes on from what it finds.
func writeForEver(path string) error {
	d, err := Open(path, Options{})
	if err != nil {
		return err
	}
	s, err := d.Settings()
	if err != nil {
		return err
	}
	b, saved, warnings, err := d.Bans()
	if err != nil {
		return err
	}
	for _, w := range warnings {
		if !strings.Contains(w, "torn") {
			return errors.New(w)
		}
	}
	bans := make(map[netip.Prefix]Ban)
	for _, ban := range saved {
		bans[ban.Client] = ban
	}
	b.Follow((&registry{bans: bans}).all)
	n, _ := strconv.Atoi(string(s.Values()["n"]))
	for {
		n++
		number := map[string]json.RawMessage{"n": json.RawMessage(strconv.Itoa(n))}
		ban := Ban{Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(n % 50)}), 32), Offenses: n}
		bans[ban.Client] = ban
		b.Record(ban)
		b.rewrite = b.rewrite || n%7 == 0
		err := errors.Join(s.Save(number, epoch()), b.Sync(),
			d.SaveLine(SavedLine{Snapshot: line.Snapshot{Next: uint64(n)}}), d.Audit(Act{At: epoch(), Note: strconv.Itoa(n)}))
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestKilled kills a writer at random moments: what it said was safe must be
// there, and nothing may be unreadable.
func TestKilled(t *testing.T) {
	path := t.TempDir()
	safe := 0
	for round := range 20 {
		safe = max(safe, killWriter(t, path, safe, 1+rand.IntN(20)))
		d := openDir(t, path) // the lock died with the writer
		s := openSettings(t, d)
		saved, err := d.LoadLine()
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		_, bans, _ := openBans(t, d)
		most := 0
		for _, ban := range bans {
			most = max(most, ban.Offenses)
		}
		n, _ := strconv.Atoi(string(s.Values()["n"]))
		acts := d.Acts(1)
		note, _ := strconv.Atoi(acts[0].Note)
		for what, got := range map[string]int{"settings": n, "bans": most, "line": int(saved.Next), "audit": note} {
			if got < safe || got > safe+1 {
				t.Errorf("round %d: %s are of state %d, safe was %d", round, what, got, safe)
			}
		}
		if left := names(t, path); strings.Contains(left, tempMark) {
			t.Errorf("left behind: %s", left)
		}
		_ = d.Close()
	}
}

// killWriter lets a child write count states more and kills it in the middle
// of the next. It returns the last that was safe.
func killWriter(t *testing.T, path string, from, count int) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	safe := from
	lines := bufio.NewScanner(out)
	for range count {
		if !lines.Scan() {
			break
		}
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the writer said %s", lines.Text())
		}
		safe = n
	}
	_ = cmd.Process.Kill()
	for lines.Scan() { // said before it died
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			safe = n
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // killed, as was meant
	return safe
}

func TestSecondProcessIsRefused(t *testing.T) {
	path := t.TempDir()
	openDir(t, path)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+path)
	out, err := cmd.Output()
	if err == nil || !strings.Contains(string(out), fmt.Sprintf("another Concert uses it (process %d)", os.Getpid())) {
		t.Errorf("second process: %v, %s", err, out)
	}
}
