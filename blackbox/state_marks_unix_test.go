//go:build unix

package blackbox

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestGrantsAndSalesOutliveTheProcess, however it ends: a rank that was taken
// away is not brought back by an older cookie, and a payment is carried out
// once.
func TestGrantsAndSalesOutliveTheProcess(t *testing.T) {
	for name, next := range map[string]func(*testing.T, *origin, *launch.Process, func() *launch.Process) *launch.Process{
		"restart": func(t *testing.T, o *origin, p *launch.Process, start func() *launch.Process) *launch.Process {
			o.letGo()
			stop(t, p)
			return start()
		},
		"kill": func(_ *testing.T, _ *origin, p *launch.Process, start func() *launch.Process) *launch.Process {
			p.Kill()
			return start()
		},
		"hand-over": func(t *testing.T, _ *origin, p *launch.Process, _ func() *launch.Process) *launch.Process {
			takeOver(t, p)
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, dir := ranking(t), dataDir(t)
			run := func() *launch.Process {
				return startIn(t, dir, o.Addr(), "-cap", "1", "-priority-cap", "1", "-rate", "1", "-skip-url", "/pay", "-pass", "1h", quick)
			}
			p := run()
			staff, lowered := ranked(t, p, "203.0.113.91", "staff"), ranked(t, p, "203.0.113.92", "staff")
			old := lowered.cookie("concert_priority")
			lowered.page("/rank?guest")
			o.fill(t, p, 1)
			line := crowd(t, p, 3)
			paid, other := line[2].ref(), line[1].ref()
			first := promote(t, p, paid, "pay_1", 200)
			rawtest.Until(t, "the lowered rank is on disk", func() bool { return strings.Contains(read(t, dir, "grants.journal"), `"rank":"guest"`) })

			p = next(t, o, p, run)
			for _, v := range append(line, staff, lowered) {
				v.base = p.URL
				v.client.CloseIdleConnections()
			}
			if line[2].status(); line[2].cookie("room_pass") == "" {
				t.Error("the pass that was paid for is not given out")
			}
			if name != "hand-over" { // which leaves the held page where it is
				in := later(func() answer { return line[2].page("/hold/paid") })
				rawtest.Until(t, "the first in line is at the origin", func() bool { return stats(t, p).Occupancy == 1 })
				defer func() { o.openAll(); <-in }()
			}
			lowered.keep("concert_priority", old)
			if a := lowered.page("/a"); a.isOrigin() {
				t.Error("a rank that was taken away counts again")
			}
			if a := staff.page("/a"); !a.isOrigin() {
				t.Errorf("staff: status %d", a.status)
			}
			again := promote(t, p, paid, "pay_1", 200)
			if !again.Repeated || again.Position != first.Position || again.PassUntil != first.PassUntil {
				t.Errorf("the payment again: %+v, first %+v", again, first)
			}
			promote(t, p, other, "pay_1", 409)
		})
	}
}
