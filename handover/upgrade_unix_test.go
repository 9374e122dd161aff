//go:build unix

package handover

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// crowd asks for numbers until stop, and returns what it got by number.
func crowd(t *testing.T, s *server, size int) (stop func() map[string]int) {
	var wg sync.WaitGroup
	var mu sync.Mutex // guards got
	got := make(map[string]int)
	end := make(chan struct{})
	for i := range size {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i%2 == 0}}
		wg.Go(func() {
			defer client.CloseIdleConnections()
			for {
				select {
				case <-end:
					return
				default:
				}
				text, err := ask(client, s, "/number")
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				mu.Lock()
				got[text]++
				mu.Unlock()
			}
		})
	}
	return func() map[string]int {
		close(end)
		wg.Wait()
		return got
	}
}

// TestUpgradeUnderLoad replaces the server several times while a crowd asks:
// no request fails, and no number is given out twice or lost.
func TestUpgradeUnderLoad(t *testing.T) {
	s, ended := start(t, "serve")
	stop := crowd(t, s, 6)
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	pids := make(map[string]bool)
	for range 4 {
		pid := await(t, fresh, s, pids)
		pids[pid] = true
		if _, err := ask(fresh, s, "/upgrade"); err != nil {
			t.Fatal(err)
		}
	}
	pids[await(t, fresh, s, pids)] = true
	got := stop()
	if _, err := ask(fresh, s, "/stop"); err != nil {
		t.Error(err)
	}
	if s.p.Upgrade(t.Context(), Plan{}) == nil {
		t.Error("a process was replaced twice")
	}
	<-s.over
	s.p.Close()
	ended()

	waits := got["wait"]
	delete(got, "wait")
	most := 0
	for text, times := range got {
		n, err := strconv.Atoi(text)
		if err != nil || times != 1 {
			t.Errorf("number %q was given out %d times", text, times)
		}
		most = max(most, n)
	}
	if most != len(got) || len(pids) != 5 {
		t.Errorf("%d numbers up to %d, from %d processes", len(got), most, len(pids))
	}
	t.Logf("%d numbers, %d told to wait, by %d processes", most, waits, len(pids))
}

// await returns the number of a process that is not among those known, once
// it knows that its predecessor is gone or has nothing in flight.
func await(t *testing.T, client *http.Client, s *server, known map[string]bool) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		text, err := ask(client, s, "/pid")
		if err != nil {
			t.Fatal(err)
		}
		if pid, left, _ := strings.Cut(text, " "); !known[pid] && left == "0" {
			return pid
		}
	}
	t.Fatal("no new process serves, or its predecessor does not end")
	return ""
}

// A successor that fails costs nothing: its predecessor goes on.
func TestFailedUpgrade(t *testing.T) {
	for as, want := range map[string]string{
		"fails at the start": "did not get ready: the other process ended",
		"fails later":        "did not take over: the other process ended",
	} {
		t.Run(as, func(t *testing.T) {
			s, ended := start(t, as)
			stop := crowd(t, s, 3)
			for range 2 {
				err := s.upgrade()
				wantError(t, err, want)
				wantError(t, err, "exit status 3")
			}
			got := stop()
			if _, err := ask(http.DefaultClient, s, "/number"); err != nil {
				t.Error(err)
			}
			for text, times := range got {
				if text != "wait" && times != 1 {
					t.Errorf("number %q was given out %d times", text, times)
				}
			}
			ended()
		})
	}
}

func TestUpgradeThatCannotFreeze(t *testing.T) {
	s, ended := start(t, "serve")
	thawed := false
	err := s.p.Upgrade(t.Context(), Plan{
		Files:    map[string]*os.File{"live": s.live},
		Freeze:   func(context.Context) ([]byte, error) { return nil, errors.New("the line is away") },
		Thaw:     func() { thawed = true },
		InFlight: func() InFlight { return InFlight{} },
	})
	wantError(t, err, "freeze: the line is away")
	if !thawed {
		t.Error("not thawed")
	}
	if _, err := ask(http.DefaultClient, s, "/number"); err != nil {
		t.Error(err)
	}
	ended()
}

func TestUpgradeOfAProgramThatIsGone(t *testing.T) {
	p, err := Join(Options{Args: []string{filepath.Join(t.TempDir(), "gone")}})
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, p.Upgrade(t.Context(), Plan{}), "path of this program is unknown")
}
