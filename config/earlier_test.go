package config

import (
	"strings"
	"testing"
	"time"
)

// earlierSettings has each name under which the earlier Concert kept a setting
// that applies at once, but html, which wants a directory of pages.
const earlierSettings = `{
	"upstream": "http://127.0.0.1:3001", "cap": 40, "max_queue": 400, "reaper": "40s", "token_ttl": "5m",
	"first_poll_grace": "40s", "retry_after": "7", "api_json": "false", "rate": "1.5", "surge": 0.5,
	"skip_url": "/pay", "pass_duration": "10m", "upstream_timeout": "20s", "preserve_host": false,
	"trusted_proxies": "10.0.0.0/8", "access_log": "false", "secure_cookie": "true", "cookie_path": "/",
	"cookie_domain": "site.test", "bypass": "/a", "assets": "/b/*", "asset_public": "/c/*",
	"stream_paths": "/d", "ban_paths": "/e", "asset_cap": "9", "asset_wait": "1s", "asset_user_wait": "1s",
	"asset_user_cap_h1": "9", "asset_user_cap_h2": "99", "admit_ttl": "20m", "client_proto_header": "X-Client-Proto",
	"stream_cap": "99", "priority_cap": "9", "priority_lane_rank": "2", "priority_wait": "1s", "priority_forms": "false",
	"abuse": "true", "abuse_strikes": "9", "abuse_window": "2m", "abuse_cooldown": "6m", "abuse_max_cooldown": "20h",
	"abuse_max_entries": "9999", "abuse_allow": "192.0.2.0/24", "tls_email": "me@site.test", "tls_staging": "false",
	"portal_allow": "192.0.2.0/24", "portal_session_ttl": "2h", "portal_secure_cookie": "true"
}`

func TestSettingsOfTheEarlierConcert(t *testing.T) {
	l := loadStored(t, earlierSettings)
	for _, w := range l.Warnings {
		if strings.Contains(w, "settings.json") {
			t.Error(w)
		}
	}
	if c := l.Config; c.Cap != 40 || c.PassDuration != 10*time.Minute || c.RetryAfter != 7*time.Second || !c.PortalSecureCookie {
		t.Errorf("cap %d, pass %v, retry after %v, secure %v", c.Cap, c.PassDuration, c.RetryAfter, c.PortalSecureCookie)
	}
}
