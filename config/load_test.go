package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const goodSecret = "0123456789abcdef0123456789abcdef"

// mustLoad loads what has to be accepted.
func mustLoad(t *testing.T, args, environ []string) *Loaded {
	t.Helper()
	l, err := Load(args, environ)
	if err != nil {
		t.Fatalf("Load(%q, %q): %v", args, environ, err)
	}
	return l
}

// problemsOf loads what has to be refused and returns the lines.
func problemsOf(t *testing.T, args, environ []string) []string {
	t.Helper()
	_, err := Load(args, environ)
	if err == nil {
		t.Fatalf("Load(%q, %q): accepted", args, environ)
	}
	return strings.Split(err.Error(), "\n")
}

func TestPrecedence(t *testing.T) {
	tests := map[string]struct {
		args, environ []string
		want          int
		from          Source
	}{
		"nothing set":         {nil, nil, 434, FromDefault},
		"environment":         {nil, []string{"CONCERT_CAPACITY=7"}, 7, FromEnv},
		"flag":                {[]string{"-cap", "9"}, nil, 9, FromFlag},
		"flag over variable":  {[]string{"-cap=9"}, []string{"CONCERT_CAPACITY=7"}, 9, FromFlag},
		"two dashes":          {[]string{"--cap=9"}, nil, 9, FromFlag},
		"last flag":           {[]string{"-cap=9", "-cap", "11"}, nil, 11, FromFlag},
		"blank variable":      {nil, []string{"CONCERT_CAPACITY=  "}, 434, FromDefault},
		"spaces are trimmed":  {nil, []string{"CONCERT_CAPACITY= 7\r"}, 7, FromEnv},
		"unrelated variables": {nil, []string{"CAPACITY=8", "=C:=C:\\", "HOME"}, 434, FromDefault},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := mustLoad(t, tt.args, tt.environ)
			if l.Config.Cap != tt.want || l.Origins["cap"] != tt.from {
				t.Errorf("cap %d from %s, want %d from %s", l.Config.Cap, l.Origins["cap"], tt.want, tt.from)
			}
		})
	}
}

func TestEmptyFlagOverrides(t *testing.T) {
	l := mustLoad(t, []string{"-bypass", "", "-trusted-proxies="}, []string{"CONCERT_BYPASS=/a"})
	if len(l.Config.Bypass) != 0 || l.Origins["bypass"] != FromFlag {
		t.Errorf("bypass %q from %s, want none from the flag", l.Config.Bypass, l.Origins["bypass"])
	}
	if got := l.Config.TrustedProxies.String(); got != "" {
		t.Errorf("trusted proxies %q, want none", got)
	}
}

func TestEmptyFlagIsStillChecked(t *testing.T) {
	got := problemsOf(t, []string{"-cap", ""}, nil)
	if want := `-cap "": want a number of page requests from 1 to 2147483647`; got[0] != want {
		t.Errorf("got  %s\nwant %s", got[0], want)
	}
}

func TestBoolFlags(t *testing.T) {
	l := mustLoad(t, []string{"-secure-cookie", "-api-json=false"}, []string{"CONCERT_ACCESS_LOG=false"})
	if c := l.Config; !c.SecureCookie || c.APIJSON || c.AccessLog {
		t.Errorf("secure-cookie %v, api-json %v, access-log %v", c.SecureCookie, c.APIJSON, c.AccessLog)
	}
}

func TestOverriddenVariableMustBeWellFormed(t *testing.T) {
	got := problemsOf(t, []string{"-cap", "5"}, []string{"CONCERT_CAPACITY=abc"})
	want := []string{`CONCERT_CAPACITY "abc": want a number of page requests from 1 to 2147483647`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	args := []string{
		"-cap", "0", "serve", "-reaper=30", "-cpa=3", "-admin-token", "hunter2",
		"-first-poll-grace=10s", "-api-json", "false", "-retry-after=6", "-max-queue",
	}
	got := problemsOf(t, args, []string{"CONCERT_STREAM_CAP=many", "CONCERT_ADMIT_SECRET=tooshort"})
	want := []string{
		`argument "serve": options start with a dash, the command (such as check, ctl or gate; see concert -help) comes before them, and a value with spaces needs quotes`,
		`flag "-cpa": want a flag that exists: did you mean -cap?`,
		`flag "-admin-token": want a flag that exists: set CONCERT_ADMIN_TOKEN instead, since others can read a command line`,
		`argument "false": join it to its flag, as in -api-json=false`,
		`flag "-max-queue": want a value after it`,
		`-cap "0": want a number of page requests from 1 to 2147483647`,
		`-reaper "30": want a duration from 5s to 24h: add a unit, as in 30s`,
		`CONCERT_STREAM_CAP "many": want a number of connections from 1 to 2147483647`,
		`CONCERT_ADMIT_SECRET "(hidden)": want secrets of at least 32 bytes each, separated by commas: secret 1 of 1 has 8 bytes, need at least 32; make one with: openssl rand -base64 48`,
		`-first-poll-grace "10s": want 0 or at least twice -retry-after, 12s: raise it, or lower the other`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFlagsThatDoNotExist(t *testing.T) {
	for _, arg := range []string{"-nonsense", "-nonsense=1", "---cap=1", "-=1", "--"} {
		if got := problemsOf(t, []string{arg}, nil); len(got) != 1 || !strings.HasPrefix(got[0], "flag ") {
			t.Errorf("%s: %q", arg, got)
		}
	}
}

func TestHelpAndVersionComeFirst(t *testing.T) {
	tests := map[string]error{"-h": ErrHelp, "-help": ErrHelp, "--help": ErrHelp, "-version": ErrVersion, "--version": ErrVersion}
	for arg, want := range tests {
		args := []string{"-upstream", "ftp://nowhere", "-nonsense", arg, "stray"}
		if _, err := Load(args, []string{"CONCERT_CAPACITY=abc"}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", arg, err, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	quiet := []string{"CONCERT_ADMIT_SECRET=" + goodSecret}
	tests := map[string]struct {
		args, environ []string
		want          string // "" for none
	}{
		"defaults":              {nil, quiet, ""},
		"random key":            {nil, nil, "CONCERT_ADMIT_SECRET is unset"},
		"mistyped variable":     {nil, append(quiet, "CONCERT_CAPCITY=5"), `"CONCERT_CAPCITY" is not a variable Concert knows and has no effect; did you mean CONCERT_CAPACITY?`},
		"named like the flag":   {nil, append(quiet, "CONCERT_CAP=5"), "did you mean CONCERT_CAPACITY?"},
		"directory, no star":    {[]string{"-assets=/css/,/js/*,/"}, quiet, `-assets "/css/" is that one path alone: write /css/* for all below it`},
		"its own origin":        {[]string{"-listen=:8080", "-upstream=http://localhost:8080"}, quiet, "-upstream http://localhost:8080 is Concert itself"},
		"its neighbour":         {[]string{"-listen=:8080", "-upstream=http://localhost:8081"}, quiet, ""},
		"a namesake":            {[]string{"-listen=:8080", "-upstream=http://example.com:8080"}, quiet, ""},
		"another address":       {[]string{"-listen=127.0.0.1:80", "-upstream=http://[::1]"}, quiet, ""},
		"lower-case variable":   {nil, append(quiet, "concert_capacity=5"), "did you mean CONCERT_CAPACITY?"},
		"no such variable":      {nil, append(quiet, "CONCERT_BANNED_PATHS=/.env"), `"CONCERT_BANNED_PATHS" is not a variable Concert knows and has no effect`},
		"blank unknown":         {nil, append(quiet, "CONCERT_BANNED_PATHS="), ""},
		"short token":           {nil, append(quiet, "CONCERT_ADMIN_TOKEN=hunter2"), "CONCERT_ADMIN_TOKEN has 7 bytes"},
		"queue below cap":       {[]string{"-cap=500"}, quiet, "-max-queue 369 is below -cap 500"},
		"queue without limit":   {[]string{"-cap=500", "-max-queue=0"}, quiet, ""},
		"burst without rate":    {[]string{"-inflow-burst=5"}, quiet, "-inflow-burst 5 has no effect without -inflow"},
		"connections, no files": {[]string{"-max-conns=2000000000"}, quiet, "-max-conns 2000000000 is more than the limit of open files"},
		"fewer than slots":      {[]string{"-max-conns=50"}, quiet, "-max-conns 50 is below -cap 434"},
		"PROXY from nobody":     {[]string{"-proxy-protocol", "-trusted-proxies="}, quiet, "-proxy-protocol has no effect without -trusted-proxies"},
		"PROXY from loopback":   {[]string{"-proxy-protocol"}, quiet, "name your balancer there"},
		"PROXY from a balancer": {[]string{"-proxy-protocol", "-trusted-proxies=10.0.0.0/8"}, quiet, ""},
		"everybody a proxy":     {[]string{"-trusted-proxies=10.0.0.0/8,0.0.0.0/0"}, quiet, "-trusted-proxies 0.0.0.0/0: each visitor can say whose request it is"},
		"everybody exempt":      {[]string{"-abuse-allow=::/0"}, quiet, "-abuse-allow ::/0: nobody is banned"},
		"nearly everybody":      {[]string{"-trusted-proxies=128.0.0.0/1"}, quiet, ""},
		"no password":           {[]string{"-portal-listen=127.0.0.1:1"}, quiet, "-portal-listen 127.0.0.1:1 has no effect without CONCERT_PORTAL_PASS"},
		"a password":            {[]string{"-portal-listen=127.0.0.1:1"}, append(quiet, "CONCERT_PORTAL_PASS=correct horse battery"), ""},
		"no portal":             {[]string{"-portal-listen="}, quiet, ""},
		"secure over plain":     {[]string{"-secure-cookie", "-listen=:80"}, quiet, "-secure-cookie with plain HTTP on port 80"},
		"secure behind TLS":     {[]string{"-secure-cookie", "-listen=:8080"}, quiet, ""},
		"room behind a room":    {[]string{`-rooms=[{"id":"a","paths":["/x/*"],"cap":1},{"id":"b","paths":["/x/y"],"cap":1}]`}, quiet, `room "b" gets no requests: room "a" stands before it`},
		"narrow cookie path":    {[]string{"-cookie-path=/shop"}, quiet, "/queue/status"},
		"polls-only path":       {[]string{"-cookie-path=/queue"}, quiet, "/queue/status"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := strings.Join(mustLoad(t, tt.args, tt.environ).Warnings, "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}

// A short name is no slip of another short one just because both begin alike.
func TestStrangersAreNotSuggested(t *testing.T) {
	for _, name := range []string{"CONCERT_URL", "CONCERT_HUT", "CONCERT_COLOUR"} {
		got := mustLoad(t, nil, []string{"CONCERT_ADMIT_SECRET=" + goodSecret, name + "=5"}).Warnings
		if len(got) != 1 || strings.Contains(got[0], "did you mean") {
			t.Errorf("%s: warnings %q", name, got)
		}
	}
}

func TestUnknownVariableKeepsItsValueToItself(t *testing.T) {
	l := mustLoad(t, nil, []string{"CONCERT_ADMIN_TOKN=hunter2"})
	if got := strings.Join(l.Warnings, "\n"); strings.Contains(got, "hunter2") || !strings.Contains(got, "CONCERT_ADMIN_TOKEN?") {
		t.Errorf("warnings %q", got)
	}
}

// TestWarningsComeWithProblems: a mistyped variable may be what explains them.
func TestWarningsComeWithProblems(t *testing.T) {
	l, err := Load([]string{"-cap=0"}, []string{"CONCERT_CAPCITY=5"})
	if err == nil || l == nil || l.Config != nil || !strings.Contains(strings.Join(l.Warnings, "\n"), "CONCERT_CAPCITY") {
		t.Errorf("%+v, %v; want the warning and no configuration", l, err)
	}
}

func TestHTMLFile(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte("<h1>soon</h1>"), 0o600); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(dir, "big.html")
	if err := os.WriteFile(big, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustLoad(t, []string{"-html", page}, []string{"CONCERT_HTML_FILE=" + big})
	if got := string(l.Config.HTML.Content); got != "<h1>soon</h1>" {
		t.Errorf("content %q", got)
	}
	for path, why := range map[string]string{
		filepath.Join(dir, "none"): "no such file",
		dir:                        "not a regular file",
		big:                        "larger",
	} {
		got := problemsOf(t, nil, []string{"CONCERT_HTML_FILE=" + path})[0]
		if !strings.HasPrefix(got, "CONCERT_HTML_FILE ") || !strings.Contains(got, why) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestRoomProblems: everything that is wrong with rooms is told at once, a line
// each, the pages of rooms that are wrong otherwise as well.
func TestRoomProblems(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text.html"), []byte("no page"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := problemsOf(t, []string{"-cap", "0", "-pages-dir", dir, "-rooms", `[
		{"id": "a", "cap": 0, "html": "none.html", "paths": ["/a"]},
		{"id": "b", "cap": 1, "html": "text.html"},
		{"id": "a", "cap": 1, "paths": ["/c"], "colour": 1}
	]`}, []string{"CONCERT_ROOMS=nothing"})
	for i, want := range []string{
		`-cap "0": want`,
		`CONCERT_ROOMS "nothing": want a JSON array of rooms`,
		`-rooms: room "a": cap 0: want a whole number from 1 to 2147483647: it is out of bounds`,
		`-rooms: room "b": it has neither hosts nor paths`,
		`-rooms: room "a": "colour" is no member: there are `,
		`-rooms: room "a": id is taken by a room above`,
		`-rooms: room "a": html "none.html": want a page in -pages-dir: `,
		`-rooms: room "b": html "text.html": want a page in -pages-dir: it must start with <`,
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("line %d of the problems lacks %s:\n%s", i+1, want, strings.Join(got, "\n"))
		}
	}
	if len(got) != 8 {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
}

func TestHugeValuesAreShortened(t *testing.T) {
	got := problemsOf(t, []string{"-cap", strings.Repeat("9", 100_000)}, nil)[0]
	if len(got) > 400 || !strings.HasSuffix(got, "from 1 to 2147483647") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
	got = problemsOf(t, []string{"-rooms", `[{"id":"a","paths":["/a"],"cap":` + strings.Repeat("9", 100_000) + `}]`}, nil)[0]
	if len(got) > 400 || !strings.HasSuffix(got, "this is something else") {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
}
