//go:build unix

package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

const (
	adminToken = "documented-admin-token-0123456789"
	// Those who wait in a world's line, as the pages call them.
	oneWaiting, otherWaiting = "203.0.113.9", "198.51.100.7"

	siteSays = "this is the site\n"
)

// program is the Concert under test; TestMain builds it once, before any test.
var program string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "concert-docs")
	if err == nil {
		defer os.RemoveAll(dir)
		program, err = launch.Build(context.Background(), dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// world is what commands find around them: a folder to work in, a site, and
// maybe a Concert. It ends with its test.
type world struct {
	t        *testing.T
	dir      string
	replaced []string // what the pages say, and what stands for it here
	env      []string
}

// newWorld makes a folder and a site, which answers at once but for /hold.
func newWorld(t *testing.T) *world {
	t.Helper()
	over := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			select {
			case <-over:
			case <-r.Context().Done():
			}
		}
		fmt.Fprint(w, siteSays)
	}))
	t.Cleanup(site.Close)
	t.Cleanup(func() { close(over) })
	w := &world{t: t, dir: t.TempDir()}
	address := strings.TrimPrefix(site.URL, "http://")
	w.replaced = []string{
		"go run ./cmd/concert ", "concert ",
		"127.0.0.1:3000", address, "10.0.0.9:3000", address,
		"-listen :443", "-listen 127.0.0.1:0",
		"/etc/concert/", w.dir + "/", "/var/www/html", w.dir,
		"seconds=30", "seconds=1",
	}
	w.env = []string{
		"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_UPSTREAM=" + site.URL,
		"CONCERT_DATA_DIR=" + w.dir + "/data", "CONCERT_TLS_CACHE=" + w.dir + "/acme",
	}
	w.file("index.html", siteSays)
	w.file("admit_secret", strings.Repeat("s", 32))
	w.file("concert.env", strings.Join(w.env, "\n")+"\n")
	return w
}

func (w *world) file(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// launch runs a Concert in the world and returns its log.
func (w *world) launch(o launch.Options) (*launch.Process, string) {
	w.t.Helper()
	o.Binary, o.Env = program, append(w.env, o.Env...)
	p, err := launch.Start(context.WithoutCancel(w.t.Context()), o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(p.Kill)
	return p, p.Stderr()
}

var (
	portalLine    = regexp.MustCompile(`msg="operator portal" address=(\S+)`)
	operatorsLine = regexp.MustCompile(`address=(\S+) operators=(\S+)`)
)

// withConcert runs a Concert whose one slot is taken and in whose line two wait.
func (w *world) withConcert() *world {
	w.t.Helper()
	p, log := w.launch(launch.Options{
		Args: []string{"-cap", "1", "-door-max", "0", "-portal-listen", "127.0.0.1:0", "-data-dir", w.dir + "/data"},
		Env:  []string{"CONCERT_PORTAL_PASS=documented-portal-pass"},
	})
	found := portalLine.FindStringSubmatch(log)
	if found == nil {
		w.t.Fatalf("where is the portal? %s", log)
	}
	portal := found[1]
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	w.t.Cleanup(cancel)
	w.fill(ctx, p)
	for _, who := range []string{oneWaiting, otherWaiting} {
		w.visit(w.t.Context(), p.URL+"/", who)
		rawtest.Until(w.t, who+" is remembered", func() bool {
			return strings.Contains(w.ask(p.URL+"/_room/history?client="+who), who)
		})
	}
	var line struct{ Occupants []struct{ ID, Client string } }
	if err := json.Unmarshal([]byte(w.ask("http://"+portal+"/api/queue")), &line); err != nil || len(line.Occupants) != 2 || line.Occupants[1].Client != otherWaiting {
		w.t.Fatalf("the line is %+v, %v", line, err)
	}
	w.env = append(w.env, "CONCERT_PORTAL_LISTEN="+portal)
	w.file("concert.env", strings.Join(w.env, "\n")+"\n")
	w.replaced = append(w.replaced, "127.0.0.1:8080", p.Addr, "127.0.0.1:8081", portal,
		"0006618504f26c8f", line.Occupants[0].ID, "promote ID", "promote "+line.Occupants[1].ID,
		"queue WHO", "queue "+otherWaiting, "unban CLIENT", "unban 203.0.113.0/24")
	return w
}

// fill takes the one slot of a Concert until ctx ends, once it is free: a page's
// slot comes back after its last byte.
func (w *world) fill(ctx context.Context, p *launch.Process) {
	w.t.Helper()
	taken := func(n int) func() bool {
		return func() bool {
			var stats struct{ Occupancy int }
			return json.Unmarshal([]byte(w.ask(p.URL+"/_room/stats")), &stats) == nil && stats.Occupancy == n
		}
	}
	rawtest.Until(w.t, "the slot is free", taken(0))
	go w.visit(ctx, p.URL+"/hold", "192.0.2.1") // ends with ctx
	rawtest.Until(w.t, "the slot is taken", taken(1))
}

// withRooms runs off-site rooms.
func (w *world) withRooms() *world {
	w.t.Helper()
	_, log := w.launch(launch.Options{
		Command: "gate",
		Args:    []string{"-gate-listen", "127.0.0.1:0", "-gate-admin-listen", "127.0.0.1:0"},
	})
	found := operatorsLine.FindStringSubmatch(log)
	if found == nil {
		w.t.Fatalf("where are the rooms? %s", log)
	}
	w.replaced = append(w.replaced, "127.0.0.1:8088", found[1], "localhost:8088", found[1], "127.0.0.1:8081", found[2])
	return w
}

// visit asks for a page as the browser of somebody at an address.
func (w *world) visit(ctx context.Context, url, from string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("X-Forwarded-For", from)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

// ask returns what an operations path answers.
func (w *world) ask(url string) string {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}
