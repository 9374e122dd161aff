//go:build unix

package blackbox

import (
	"encoding/json"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestPortalSurvivesAnUpgrade: the socket, the sessions and what was signed out,
// the charts, and who was removed; with a data directory and without.
func TestPortalSurvivesAnUpgrade(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"files": dataDir(t), "memory": ""} {
		t.Run(name, func(t *testing.T) {
			o := newOrigin(t)
			p, portal := startPortal(t, dir, o.Addr(), "-cap", "1", quick)
			d, leaves := signIn(t, p, portal, operatorPass), signIn(t, p, portal, operatorPass)
			leaves.do("POST", "/logout", "text/html", "csrf="+leaves.csrf)
			o.fill(t, p, 1)
			all := crowd(t, p, 4)
			d.want(200, "POST", "/api/queue/kick", `{"id":"`+d.occupants()[0]+`"}`)
			before := measured(t, d)
			takeOver(t, p)
			d.follow() // on a connection that was open before, to the new process
			leaves.follow()
			if ids := d.occupants(); len(ids) != 3 {
				t.Errorf("%d in line", len(ids))
			}
			rawtest.Until(t, "the new process measures", func() bool { return measured(t, d) > before })
			if a := all[0].follow().page("/"); a.status != 403 {
				t.Errorf("who was removed: %d", a.status)
			}
			d.want(200, "POST", "/api/cap", `{"cap":2}`, `"to":"2"`)
			leaves.want(401, "GET", "/api/overview", "")
			o.letGo()
		})
	}
}

// measured is how many measurements the charts have.
func measured(t *testing.T, d *desk) int {
	t.Helper()
	var s struct{ At []int64 }
	if err := json.Unmarshal([]byte(d.want(200, "GET", "/api/series", "")), &s); err != nil || len(s.At) == 0 {
		t.Fatal(s, err)
	}
	return len(s.At)
}
