//go:build unix

package docs

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/pages"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// earlierFiles are what the earlier Concert left in its data directory.
var earlierFiles = map[string]string{
	"settings.json": `{
  "version": 1,
  "updated": "2026-01-01T10:00:00Z",
  "settings": {
    "cap": 40,
    "retry_after": "7"
  }
}
`,
	"bans.json": `{"version":1,"saved":"2026-01-01T10:00:00Z",
"clients":[{"client":"203.0.113.9","permanent":true,"offenses":3}],
"ranges":[{"client":"198.51.100.0/24","permanent":true,"offenses":1}]}`,
	"queue.snapshot": `{"version":1,"exported_at":"2026-01-01T10:00:00Z","tickets":[{"token":"0123456789abcdef","created_at":"2026-01-01T09:59:00Z"}],"passes":[]}`,
}

// TestUpgradingFromTheEarlierConcert starts Concert on the files of the earlier
// one with the settings that docs/upgrading.md tells to add.
func TestUpgradingFromTheEarlierConcert(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	for name, text := range earlierFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var settings []string
	page, _ := pages.Parse("docs/upgrading.md", read(t, "docs/upgrading.md"))
	for _, b := range page.Blocks {
		if b.Language == "env" {
			settings = strings.Fields(b.Text)
		}
	}
	if len(settings) != 3 {
		t.Fatalf("the page tells to add %q", settings)
	}
	g := &guide{world: w}
	g.p, _ = w.launch(launch.Options{Args: []string{"-data-dir", dir}, Env: settings})
	var stats struct {
		Cap           int
		MaxQueueDepth int `json:"max_queue_depth"`
	}
	if err := json.Unmarshal([]byte(w.ask(g.p.URL+"/_room/stats")), &stats); err != nil || stats.Cap != 40 || stats.MaxQueueDepth != 10000 {
		t.Errorf("%+v, %v: want the cap that was changed, and the line that was added", stats, err)
	}
	for address, want := range map[string]int{"203.0.113.9": http.StatusForbidden, "198.51.100.7": http.StatusForbidden, "203.0.113.10": http.StatusOK} {
		if resp, _ := g.get("/", address, ""); resp.StatusCode != want {
			t.Errorf("%s: status %d, want %d", address, resp.StatusCode, want)
		}
	}
	rawtest.Until(t, "the earlier line is set aside", func() bool {
		_, err := os.Stat(filepath.Join(dir, "queue.snapshot.bad"))
		return err == nil
	})
}
