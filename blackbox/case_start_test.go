package blackbox

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// checked runs "concert check" and returns value and source of a setting.
func checked(t *testing.T, setting string, env []string, args ...string) (value, source string) {
	t.Helper()
	status, stdout, stderr := exit(t, env, append([]string{"check", "-data-dir", ""}, args...)...)
	if status != 0 {
		t.Fatalf("check %q: exit status %d:\n%s", args, status, stderr)
	}
	columns := regexp.MustCompile(`(?m)^-` + setting + ` +(.*?) {2,}(\S+) +(?:live|restart)`).FindStringSubmatch(stdout)
	if columns == nil {
		t.Fatalf("check does not list -%s:\n%s", setting, stdout)
	}
	return columns[1], columns[2]
}

// TestEmptyIsAValue: a flag set to nothing overrides, a blank variable does not.
func TestEmptyIsAValue(t *testing.T) {
	tests := []struct {
		setting, value, source string
		env, args              []string
	}{
		{"bypass", `""`, "flag", []string{"CONCERT_BYPASS=/a"}, []string{"-bypass", ""}},
		{"bypass", "/a", "env", []string{"CONCERT_BYPASS=/a"}, nil},
		{"bypass", "/favicon.ico", "default", []string{"CONCERT_BYPASS="}, nil},
		{"abuse", "false", "env", []string{"CONCERT_ABUSE=false"}, nil},
		{"abuse", "true", "flag", []string{"CONCERT_ABUSE=false"}, []string{"-abuse"}},
		{"cap", "9", "flag", []string{"CONCERT_CAPACITY=7"}, []string{"-cap", "9"}},
		{"cap", "434", "default", []string{"CONCERT_CAPACITY= "}, nil},
	}
	for _, tt := range tests {
		if value, source := checked(t, tt.setting, tt.env, tt.args...); value != tt.value || source != tt.source {
			t.Errorf("%q %q: -%s is %s from %s, want %s from %s", tt.env, tt.args, tt.setting, value, source, tt.value, tt.source)
		}
	}
}

// TestEverySourceIsHeldToTheSameBounds, and what is wrong is named in it.
func TestEverySourceIsHeldToTheSameBounds(t *testing.T) {
	for setting, value := range map[string]string{
		"CONCERT_CAPACITY -cap": "abc", "CONCERT_RATE -rate": "-1", "CONCERT_SURGE -surge": "NaN", "CONCERT_SKIP_URL -skip-url": "javascript:x",
		"CONCERT_UPSTREAM_TIMEOUT -upstream-timeout": "-1s", "CONCERT_REAPER -reaper": "0", "CONCERT_RETRY_AFTER -retry-after": "0",
		"CONCERT_ABUSE -abuse": "maybe", "CONCERT_BAN_PATHS -ban-paths": ".env", "CONCERT_BYPASS -bypass": "/:x", "CONCERT_ASSETS -assets": "/*",
		"CONCERT_ASSET_PUBLIC -asset-public": "/queue/*", "CONCERT_STREAM_PATHS -stream-paths": "/_room/x", "CONCERT_UPSTREAM -upstream": "//h",
		"CONCERT_TRUSTED_PROXIES -trusted-proxies": "10.0.0.0/40", "CONCERT_LISTEN -listen": "nowhere",
	} {
		variable, flag, _ := strings.Cut(setting, " ")
		if status, _, stderr := exit(t, []string{variable + "=" + value}); status == 0 || !strings.Contains(stderr, variable) || !strings.Contains(stderr, value) {
			t.Errorf("%s=%s: exit status %d, %q; want it refused by name", variable, value, status, stderr)
		}
		if status, _, stderr := exit(t, nil, flag+"="+value); status == 0 || !strings.Contains(stderr, flag) || !strings.Contains(stderr, value) {
			t.Errorf("%s=%s: exit status %d, %q; want it refused by name", flag, value, status, stderr)
		}
	}
	for _, args := range [][]string{
		{"-no-such-flag"}, {"stray"}, {"-assets", "/a/*", "-bypass", "/a/*"}, {"-assets", "/a,/a"}, {"-abuse-max-cooldown", "1m", "-abuse-cooldown", "5m"},
	} {
		if status, _, stderr := exit(t, nil, args...); status == 0 || stderr == "" {
			t.Errorf("%q: exit status %d, want a refusal", args, status)
		}
	}
}

// TestExceptionWithinAPrefix: the longest entry decides, whichever list it is
// in.
func TestExceptionWithinAPrefix(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-assets", "/files/*", "-asset-public", "/files/open/*", "-ban-paths", "/files/debug.log")
	for i, tt := range []struct{ path, want string }{{"/files/a.css", "403"}, {"/files/open/a.png", "200"}, {"/files/debug.log", "429"}} {
		if r := get(t, p, "203.0.113."+itoa(i), tt.path); r.Status() != tt.want {
			t.Errorf("%s: status %s, want %s", tt.path, r.Status(), tt.want)
		}
	}
}

// TestNothingOnDisk: with an empty data directory, no file is written.
func TestNothingOnDisk(t *testing.T) {
	o := newOrigin(t)
	dir := t.TempDir()
	t.Chdir(dir)
	p := start(t, o.Addr(), "-cap", "1", quick, "-ban-paths", "/.env")
	o.fill(t, p, 1)
	newVisitor(t, p).page("/")
	get(t, p, "203.0.113.9", "/.env")
	if status := setCap(t, p, `{"cap":2}`); status != 200 {
		t.Errorf("cap: status %d", status)
	}
	o.openAll()
	if err := p.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// TestSecretsAreNotTold: stats are open to all, and logs are read by many.
func TestSecretsAreNotTold(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	_, figures := call(t, "GET", p.URL+"/_room/stats", "", "")
	_, exposed := call(t, "GET", p.URL+"/_room/metrics", "", "")
	call(t, "POST", p.URL+"/_room/cap", adminToken, `{"cap":6}`)
	if all := figures + exposed + p.Stderr() + p.Stdout(); strings.Contains(all, adminToken) {
		t.Errorf("stats, metrics or log hold the token:\n%s", all)
	}
	// Credentials in the origin's URL are of no use, and not repeated.
	status, stdout, stderr := exit(t, nil, "-upstream", "http://user:pa55word@"+o.Addr(), "-listen", "127.0.0.1:0", "-data-dir", "")
	if status == 0 || strings.Contains(stdout+stderr, "pa55word") {
		t.Errorf("exit status %d, or the password is shown:\n%s%s", status, stdout, stderr)
	}
}
