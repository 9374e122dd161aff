package blackbox

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// stateSecret signs tickets and passes of all processes of a test.
const stateSecret = "state-tests-admit-secret-0123456789abcdef"

// startIn runs Concert with a data directory, until the test ends.
func startIn(t *testing.T, dir, origin string, args ...string) *launch.Process {
	t.Helper()
	return launched(t, launch.Options{
		Args: append([]string{"-upstream", "http://" + origin, "-data-dir", dir}, args...),
		Env:  []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_ADMIT_SECRET=" + stateSecret},
	})
}

// dataDir is where a test's Concert may make its directory.
func dataDir(t *testing.T) string { return filepath.Join(t.TempDir(), "data") }

// stop ends Concert as an operator does.
func stop(t *testing.T, p *launch.Process) {
	t.Helper()
	if err := p.Stop(within(t, rawtest.Patience)); err != nil {
		t.Fatal(err)
	}
}

// admin sends an operator's request and checks the status.
func admin(t *testing.T, p *launch.Process, method, path, body string, want int) string {
	t.Helper()
	status, text := call(t, method, p.URL+path, adminToken, body)
	if status != want {
		t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, status, text, want)
	}
	return text
}

// write makes a file, and the directory before it.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read returns a file's content, "" when there is none.
func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// setting returns a setting as GET /_room/settings has it.
func setting(t *testing.T, p *launch.Process, key string) (value, source string) {
	t.Helper()
	var all struct {
		Settings []struct {
			Key, Source string
			Value       json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(admin(t, p, http.MethodGet, "/_room/settings", "", 200)), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Settings {
		if s.Key == key {
			return string(s.Value), s.Source
		}
	}
	t.Fatalf("there is no setting %q", key)
	return "", ""
}

var shownPosition = regexp.MustCompile(`id="position">(\d+)<`)

// position is the place that a waiting page shows.
func (a answer) position(t *testing.T) int {
	t.Helper()
	found := shownPosition.FindStringSubmatch(a.body)
	if found == nil {
		t.Fatalf("status %d: no waiting page:\n%s", a.status, a.body)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// banned reports whether Concert refuses a client.
func banned(t *testing.T, p *launch.Process, address string) bool {
	t.Helper()
	s := get(t, p, address, "/").Status()
	return s == "429" || s == "403"
}

// logged waits for a line in Concert's log.
func logged(t *testing.T, p *launch.Process, text string) {
	t.Helper()
	rawtest.Until(t, "the log says "+text, func() bool { return strings.Contains(p.Stderr(), text) })
}
