package blackbox

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// figures are what the tests read of /_room/stats.
type figures struct {
	Cap          int `json:"cap"`
	Occupancy    int `json:"occupancy"`
	QueueDepth   int `json:"queue_depth"`
	AtDoor       int `json:"at_door"`
	StreamActive int `json:"stream_active"`
	AssetServed  int `json:"asset_served_total"`
	AssetDenied  int `json:"asset_denied_total"`
}

func stats(t *testing.T, p *launch.Process) figures {
	t.Helper()
	status, body := call(t, http.MethodGet, p.URL+"/_room/stats", "", "")
	var f figures
	if err := json.Unmarshal([]byte(body), &f); err != nil || status != http.StatusOK {
		t.Fatalf("stats: status %d, body %q: %v", status, body, err)
	}
	return f
}

// idle waits until no page slot is held: a client can have its answer a moment
// before the slot is free again.
func idle(t *testing.T, p *launch.Process) {
	t.Helper()
	rawtest.Until(t, "the slots are free", func() bool { return stats(t, p).Occupancy == 0 })
}

// setCap changes the cap as an operator does, and returns the status.
func setCap(t *testing.T, p *launch.Process, body string) int {
	t.Helper()
	status, _ := call(t, http.MethodPost, p.URL+"/_room/cap", adminToken, body)
	return status
}

func call(t *testing.T, method, address, token, body string) (status int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}
