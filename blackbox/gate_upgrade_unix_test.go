//go:build unix

package blackbox

import (
	"net/http"
	"strings"
	"testing"
)

// TestGateBesideTheProxy hands rooms over to another process with all the rest.
func TestGateBesideTheProxy(t *testing.T) {
	t.Parallel()
	g := startGate(t, "", "-upstream", "http://127.0.0.1:1")
	g.admin(201, "POST", "/rooms", demoRoom)
	_, _ = g.join()
	token, ticket := g.join()
	takeOver(t, g.Process)
	st := g.call(200, "GET", g.public+"/api/v1/queue/status", token, "")
	if st["position"] != 1.0 || st["ticket"] != ticket {
		t.Errorf("after the hand-over: %v", st)
	}
	if l := g.admin(200, "GET", "/rooms/demo", ""); l["issued"] != 2.0 {
		t.Errorf("%v", l)
	}
}

// TestGateUpgrade: a new concert gate goes on with rooms, tickets, keys and who is
// signed in, on the same sockets, with and without a directory.
func TestGateUpgrade(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"on disk": dataDir(t), "in memory": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGate(t, "gate", "-gate-admin-listen", "127.0.0.1:0", "-data-dir", dir)
			g.admin(201, "POST", "/rooms", `{"id":"demo","inflow":1,"interval":"1h","target_url":"https://shop.example/"}`)
			g.join()
			token, ticket := g.join()
			desk := newVisitor(t, g.Process).follow()
			desk.base = g.operators
			if got := desk.do(http.MethodPost, "/login", "", "pass="+adminToken); !strings.Contains(got.body, "demo") {
				t.Fatalf("signed in: %d %s", got.status, got.body)
			}
			takeOver(t, g.Process)
			if got := g.call(200, "GET", g.public+"/api/v1/queue/status", token, ""); got["position"] != ticket-1 {
				t.Errorf("who waited: %v, want place %v", got, ticket-1)
			}
			if _, next := g.join(); next != ticket+1 {
				t.Errorf("the next ticket is %v, want %v", next, ticket+1)
			}
			if got := desk.do(http.MethodGet, "/rooms", "text/html", ""); !strings.Contains(got.body, "demo") {
				t.Errorf("who was signed in: %d", got.status)
			}
			logged(t, g.Process, "msg=stopped")
			takeOver(t, g.Process) // and once more
			if got := g.admin(200, "GET", "/rooms/demo", ""); got["issued"] != ticket+1 {
				t.Errorf("issued %v, want %v", got["issued"], ticket+1)
			}
		})
	}
}
