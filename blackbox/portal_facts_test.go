package blackbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// overviewFields are those that programs may rely on.
const overviewFields = `cap occupancy queue_depth live_queue_depth max_queue_depth utilization first_poll_grace queued_total evicted_total
timeouts_total promoted_total removed_total asset_cap asset_in_flight asset_users asset_served_total asset_denied_total
asset_user_throttled_total asset_global_throttled_total stream_cap stream_active stream_served_total stream_denied_total
stream_throttled_total abuse_enabled abuse_tracked abuse_range_bans abuse_strikes_total abuse_bans_total abuse_rejected_total
abuse_dropped_total active_bans notes_tracked notes_dropped kicked_active history_clients rate surge skip_url
priority_lane_cap priority_lane_in_flight priority_lane_waiting priority_lane_ranks priority_lane_served_total priority_lane_full_total
priority_placed_total priority_forms_total priority_forms_refused_total priority_grants_total priority_cleared_total
priority_rejected_total priority_requests_guest priority_requests_member priority_requests_prospect priority_requests_customer
priority_requests_subscriber priority_requests_checkout priority_requests_staff`

// TestPortalOverviewFields: and none of what does not belong there.
func TestPortalOverviewFields(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p, portal := startPortal(t, "", o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	crowd(t, p, 2)
	_, text := call(t, http.MethodGet, portal+"/api/overview", adminToken, "")
	var all map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(overviewFields) {
		if _, ok := all[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"upstream", "token_ttl", "asset_user_cap_h1", "asset_user_cap_h2"} {
		if _, ok := all[name]; ok {
			t.Errorf("%s is there", name)
		}
	}
	if all["queue_depth"] != 2.0 || all["notes_tracked"] != 2.0 || all["occupancy"] != 1.0 {
		t.Errorf("%v in line, %v notes, %v at the origin", all["queue_depth"], all["notes_tracked"], all["occupancy"])
	}
}

// TestPortalShowsWhoOwnsAnAddress, from a local database.
func TestPortalShowsWhoOwnsAnAddress(t *testing.T) {
	t.Parallel()
	o, data := newOrigin(t), t.TempDir()
	write(t, data, "ip.tsv", "203.0.113.0\t203.0.113.255\t64496\tNZ\tKIWI-NET <b>broad</b>\n2001:db8::\t2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\t64497\tNone\tNowhere\n")
	p := run(t, []string{"CONCERT_ADMIN_TOKEN=" + adminToken, "CONCERT_PORTAL_PASS=" + operatorPass, "NADDR_DATA=" + data + "/ip.tsv"},
		"-upstream", "http://"+o.Addr(), "-portal-listen", "127.0.0.2:0")
	d := signIn(t, p, portalOf(t, p), operatorPass)
	get(t, p, "203.0.113.9", "/")
	var html string
	rawtest.Until(t, "the database is loaded", func() bool {
		var f struct{ HTML string }
		if err := json.Unmarshal([]byte(d.want(200, "GET", "/api/frag/visitors", "")), &f); err != nil {
			t.Fatal(err)
		}
		html = f.HTML
		return strings.Contains(html, "AS64496")
	})
	for _, want := range []string{"\U0001F1F3\U0001F1FF", "New Zealand", "KIWI-NET &lt;b&gt;", "0.0.251.240.203.0.113.9", "64496.203.0.113.9"} {
		if !strings.Contains(html, want) {
			t.Errorf("the row lacks %s:\n%s", want, html)
		}
	}
	if detail := d.want(200, "GET", "/api/frag/visitor?client=203.0.113.9", ""); !strings.Contains(detail, "203.0.113.0/24") || !strings.Contains(detail, "0.0.251.240.203.0.113.0/56") {
		t.Errorf("the expanded row lacks the ranges:\n%s", detail)
	}
	if page := d.page("/visitors").body; !strings.Contains(page, "ip.tsv") {
		t.Error("no page says where IP details come from")
	}
}
