package config

import (
	"bytes"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

var (
	keyForm  = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	flagForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	envForm  = regexp.MustCompile(`^(CONCERT|NADDR)_[A-Z0-9]+(_[A-Z0-9]+)*$`)
)

func TestRowsAreComplete(t *testing.T) {
	for _, s := range Settings() {
		if !keyForm.MatchString(s.Key) {
			t.Errorf("%s: malformed key", s.Key)
		}
		if !envForm.MatchString(s.Env) {
			t.Errorf("%s: malformed variable %q", s.Key, s.Env)
		}
		if s.Secret != (s.Flag == "") || s.Flag != "" && !flagForm.MatchString(s.Flag) {
			t.Errorf("%s: flag %q of a setting with secret=%v", s.Key, s.Flag, s.Secret)
		}
		if s.Secret && s.Default != "" {
			t.Errorf("%s: a secret with a default", s.Key)
		}
		if len(s.Help) < 20 || s.Help[len(s.Help)-1] != '.' {
			t.Errorf("%s: help %q is not a sentence", s.Key, s.Help)
		}
		if s.Want == "" || s.Kind == "" {
			t.Errorf("%s: accepts %q, kind %q", s.Key, s.Want, s.Kind)
		}
		if (s.Unit != "") != (s.Kind == KindInt || s.Kind == KindFloat || s.Kind == KindSeconds) {
			t.Errorf("%s: unit %q of a %s", s.Key, s.Unit, s.Kind)
		}
	}
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]string{"-version": "(built in)", "-help": "(built in)", "-h": "(built in)"}
	for _, s := range Settings() {
		names := []string{s.Key, s.Env}
		if s.Flag != "" {
			names = append(names, "-"+s.Flag)
		}
		for _, name := range names {
			if other, taken := seen[name]; taken {
				t.Errorf("%s is a name of %s and of %s", name, other, s.Key)
			}
			seen[name] = s.Key
		}
	}
}

func TestRowsStandInGroupOrder(t *testing.T) {
	var order []Group
	for _, s := range Settings() {
		if n := len(order); n == 0 || order[n-1] != s.Group {
			order = append(order, s.Group)
		}
	}
	if !slices.Equal(order, Groups()) {
		t.Errorf("rows stand in the order %q, groups in %q", order, Groups())
	}
}

func TestEveryFieldIsBoundOnce(t *testing.T) {
	c := new(Config)
	bound := make(map[uintptr][]string)
	for _, s := range Settings() {
		at := reflect.ValueOf(s.bind.field(c)).Pointer()
		bound[at] = append(bound[at], s.Key)
	}
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		name, at := v.Type().Field(i).Name, v.Field(i).Addr().Pointer()
		if keys := bound[at]; len(keys) != 1 {
			t.Errorf("field %s is bound to %d rows: %q", name, len(keys), keys)
		}
		delete(bound, at)
	}
	if len(bound) > 0 {
		t.Errorf("rows bound to no field of Config: %v", bound)
	}
}

// The names, defaults and restart rules that operators' scripts rely on.
func TestPublishedRows(t *testing.T) {
	published := [][3]string{
		{"listen", "CONCERT_LISTEN", ":8080"},
		{"upstream", "CONCERT_UPSTREAM", "http://127.0.0.1:3000"},
		{"cap", "CONCERT_CAPACITY", "434"},
		{"max-queue", "CONCERT_MAX_QUEUE", "369"},
		{"reaper", "CONCERT_REAPER", "36s"},
		{"token-ttl", "CONCERT_TOKEN_TTL", "0"},
		{"first-poll-grace", "CONCERT_FIRST_POLL_GRACE", "30s"},
		{"secure-cookie", "CONCERT_SECURE_COOKIE", "false"},
		{"cookie-path", "CONCERT_COOKIE_PATH", "/"},
		{"cookie-domain", "CONCERT_COOKIE_DOMAIN", ""},
		{"preserve-host", "CONCERT_PRESERVE_HOST", "true"},
		{"trusted-proxies", "CONCERT_TRUSTED_PROXIES", "127.0.0.1/32,::1/128"},
		{"bypass", "CONCERT_BYPASS", "/favicon.ico"},
		{"assets", "CONCERT_ASSETS", ""},
		{"asset-public", "CONCERT_ASSET_PUBLIC", ""},
		{"asset-cap", "CONCERT_ASSET_CAP", "0"},
		{"asset-wait", "CONCERT_ASSET_WAIT", "2s"},
		{"asset-user-cap-h1", "CONCERT_ASSET_USER_CAP_H1", "8"},
		{"asset-user-cap-h2", "CONCERT_ASSET_USER_CAP_H2", "128"},
		{"asset-user-wait", "CONCERT_ASSET_USER_WAIT", "2s"},
		{"admit-ttl", "CONCERT_ADMIT_TTL", "10m"},
		{"client-proto-header", "CONCERT_CLIENT_PROTO_HEADER", ""},
		{"stream-paths", "CONCERT_STREAM_PATHS", ""},
		{"stream-cap", "CONCERT_STREAM_CAP", "1000"},
		{"abuse", "CONCERT_ABUSE", "true"},
		{"abuse-strikes", "CONCERT_ABUSE_STRIKES", "20"},
		{"abuse-window", "CONCERT_ABUSE_WINDOW", "1m"},
		{"abuse-cooldown", "CONCERT_ABUSE_COOLDOWN", "5m"},
		{"abuse-max-cooldown", "CONCERT_ABUSE_MAX_COOLDOWN", "24h"},
		{"abuse-max-entries", "CONCERT_ABUSE_MAX_ENTRIES", "100000"},
		{"abuse-allow", "CONCERT_ABUSE_ALLOW", ""},
		{"ban-paths", "CONCERT_BAN_PATHS", ""},
		{"queue-per-client", "CONCERT_QUEUE_PER_CLIENT", "0"},
		{"proxy-protocol", "CONCERT_PROXY_PROTOCOL", "false"},
		{"max-conns", "CONCERT_MAX_CONNS", "0"},
		{"max-conns-per-client", "CONCERT_MAX_CONNS_PER_CLIENT", "0"},
		{"access-log", "CONCERT_ACCESS_LOG", "true"},
		{"history-log", "CONCERT_HISTORY_LOG", ""},
		{"naddr-data", "NADDR_DATA", ""},
		{"naddr-data-poll", "NADDR_DATA_POLL", "30s"},
		{"naddr-addr", "NADDR_ADDR", ""},
		{"html", "CONCERT_HTML_FILE", ""},
		{"upstream-timeout", "CONCERT_UPSTREAM_TIMEOUT", "30s"},
		{"api-json", "CONCERT_API_JSON", "true"},
		{"retry-after", "CONCERT_RETRY_AFTER", "5"},
		{"portal-listen", "CONCERT_PORTAL_LISTEN", "127.0.0.1:8081"},
		{"portal-allow", "CONCERT_PORTAL_ALLOW", "127.0.0.1/32,::1/128"},
		{"portal-session-ttl", "CONCERT_PORTAL_SESSION_TTL", "8h"},
		{"portal-secure-cookie", "CONCERT_PORTAL_SECURE_COOKIE", "false"},
		{"", "CONCERT_PORTAL_PASS", ""},
		{"", "CONCERT_ADMIN_TOKEN", ""},
		{"", "CONCERT_ADMIT_SECRET", ""},
	}
	rows := make(map[string]Setting)
	for _, s := range Settings() {
		rows[s.Env] = s
	}
	for _, want := range published {
		s := rows[want[1]]
		if s.Flag != want[0] || s.Default != want[2] {
			t.Errorf("%s: flag %q, default %q; want %q, %q", want[1], s.Flag, s.Default, want[0], want[2])
		}
	}
}

func TestDefaultIsValid(t *testing.T) {
	c := Default()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if again := Default(); bytes.Equal(again.AdmitSecrets[0], c.AdmitSecrets[0]) {
		t.Error("two processes would share a random key")
	}
}
