package history

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

var start = time.Date(2026, 9, 26, 21, 18, 20, 100_000_000, time.UTC)

// visit is a finished visit, as the pipeline hands it to observers.
func visit(ip, path string, status int) *pipeline.Visit {
	a := netip.MustParseAddr(ip)
	v := &pipeline.Visit{
		R: &http.Request{
			Method: "GET", RequestURI: path, URL: &url.URL{Path: path},
			Header: http.Header{"User-Agent": {"curl/8.5"}},
		},
		Start: time.Now(), Client: clientip.Client{Addr: a, Key: clientip.KeyOf(a)},
		Path: paths.Path{Clean: path}, Class: pipeline.Page,
	}
	v.Hijacked(status) // the one way to a status without a connection
	return v
}

func blocked(ip, path string) *pipeline.Visit {
	v := visit(ip, path, 429)
	v.Reason = pipeline.Banned
	return v
}

func inMemory() *History {
	return New(Options{Settings: Settings{On: true, Query: true}})
}

func banned(target string, since, until time.Time) Ban {
	return Ban{Target: netip.MustParsePrefix(target), Since: since, Until: until, Source: "forged-pass"}
}

// logged is a History with files, and what has become of the process.
type logged struct {
	*History
	t      *testing.T
	path   string
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func logFile(t *testing.T) string { return filepath.Join(t.TempDir(), "history.jsonl") }

// open starts a process on the file.
func open(t *testing.T, path string, change func(*Options)) *logged {
	t.Helper()
	o := Options{Settings: Settings{On: true, Query: true}, File: path, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &logged{History: New(o), t: t, path: path, cancel: cancel}
	l.done.Go(func() { l.Run(ctx) })
	t.Cleanup(l.stop)
	return l
}

// stop ends the process cleanly.
func (l *logged) stop() {
	l.cancel()
	l.done.Wait()
}

// read returns the lines of a file.
func read(t *testing.T, path string) []event {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []event
	for line := range strings.Lines(string(text)) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

// kinds counts lines by kind.
func kinds(events []event) map[string]int {
	n := map[string]int{}
	for _, e := range events {
		n[e.T]++
	}
	return n
}

func write(t *testing.T, path string, lines ...string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
