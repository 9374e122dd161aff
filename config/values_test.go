package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"
)

// Values that are accepted, as they read afterwards, and values that are not.
func TestTexts(t *testing.T) {
	tests := []struct {
		flag, value, want string
	}{
		{"listen", ":0", ":0"},
		{"listen", "127.0.0.1:8080", "127.0.0.1:8080"},
		{"listen", "[::1]:8080", "[::1]:8080"},
		{"listen", "localhost:80", "localhost:80"},
		{"upstream", "HTTP://Example.test:81/base/%2Fx", "http://Example.test:81/base/%2Fx"},
		{"upstream", "https://[2001:db8::1]", "https://[2001:db8::1]"},
		{"trusted-proxies", "10.1.2.3/8, ,::ffff:192.0.2.1", "10.0.0.0/8,192.0.2.1/32"},
		{"client-proto-header", "x-client-proto", "X-Client-Proto"},
		{"cookie-domain", ".example.test", ".example.test"},
		{"cookie-path", "/a b", "/a b"},
		{"bypass", " /a , ,/b/* ", "/a,/b/*"},
		{"reaper", "90m", "1h30m"},
		{"reaper", "3600s", "1h"},
		{"reaper", "1h0m5s", "1h0m5s"},
		{"token-ttl", "0", "0"},
		{"api-json", "F", "false"},
		{"room", "paused", "paused"},
		{"log-format", "json", "json"},
		{"queue-status-code", "503", "503"},
	}
	for _, tt := range tests {
		l := mustLoad(t, []string{"-" + tt.flag + "=" + tt.value}, nil)
		if name := l.Config.UpstreamName(); tt.flag == "upstream" && name != tt.want {
			t.Errorf("the origin is named %q, want %q", name, tt.want)
		}
		if got := find(t, tt.flag).Text(l.Config); got != tt.want {
			t.Errorf("-%s %q reads %q, want %q", tt.flag, tt.value, got, tt.want)
		}
	}
}

func TestTextsRefused(t *testing.T) {
	tests := []struct{ flag, value, says string }{
		{"listen", "8080", "write :8080"},
		{"listen", "", "want host:port"},
		{"listen", ":65536", "a port number up to 65535"},
		{"listen", "a b:80", "want host:port"},
		{"listen", "http://:80", "want host:port"},
		{"upstream", "localhost:3000", "write http://localhost:3000"},
		{"upstream", "127.0.0.1:3000", "write http://127.0.0.1:3000"},
		{"upstream", "", "an http, https or h2c URL"},
		{"upstream", "ftp://origin.test", "an http, https or h2c URL"},
		{"upstream", "http:origin.test", "an http, https or h2c URL"},
		{"upstream", "http://", "an http, https or h2c URL"},
		{"upstream", "http://:3000", "an http, https or h2c URL"},
		{"upstream", "http://origin.test/?a=b", "an http, https or h2c URL"},
		{"upstream", "http://origin.test/?", "an http, https or h2c URL"},
		{"upstream", "http://origin.test/#a", "an http, https or h2c URL"},
		{"upstream", "http://origin.test:0", "port from 1 to 65535"},
		{"upstream", "http://origin.test:70000", "port from 1 to 65535"},
		{"trusted-proxies", "10.0.0.0/8,ten,2001:db8::/200", `"ten" is neither`},
		{"client-proto-header", "X Proto", "name of an HTTP header"},
		{"cookie-path", "shop", "starts with /"},
		{"cookie-path", "/a;b", "starts with /"},
		{"cookie-domain", "exa mple", "a domain name"},
		{"room", "shut", "open, paused or closed"},
		{"queue-status-code", "500", "200, 202, 429 or 503"},
		{"log-format", "xml", "text or json"},
		{"retry-after", "5s", "write 5"},
		{"api-json", "perhaps", "true or false"},
		{"max-body-bytes", "99999999999999999999", "a number of bytes"},
	}
	for _, tt := range tests {
		refused(t, tt.flag, tt.value, tt.says)
	}
}

// find returns the row of a flag.
func find(t *testing.T, flag string) Setting {
	t.Helper()
	rows := Settings()
	i := slices.IndexFunc(rows, func(s Setting) bool { return s.Flag == flag })
	if i < 0 {
		t.Fatalf("no flag -%s", flag)
	}
	return rows[i]
}

func TestPasswordsOfOriginsAreNotRepeated(t *testing.T) {
	for _, value := range []string{
		"http://user:hunter2@origin.test",
		"http://user:hunter2@origin.test:0/",
		"http://user:hunter2@origin.test:port/",
		"ftp://user:hunter2@origin.test",
		"user:hunter2@origin.test:80",
		"user:hunt@er2@origin.test",
		"http://us er:hunter2@/",
	} {
		if got := problemsOf(t, []string{"-upstream", value}, nil); len(got) != 1 || strings.Contains(got[0], "er2") {
			t.Errorf("%q: %q", value, got)
		}
	}
}

func TestAdmitSecrets(t *testing.T) {
	other := strings.Repeat("z", 32)
	l := mustLoad(t, nil, []string{"CONCERT_ADMIT_SECRET= " + goodSecret + ", " + other})
	if keys := l.Config.AdmitSecrets; len(keys) != 2 || string(keys[0]) != goodSecret || string(keys[1]) != other {
		t.Errorf("%d secrets, want the two in their order", len(keys))
	}
	for value, says := range map[string]string{
		goodSecret + "," + goodSecret[:31]: "secret 2 of 2 has 31 bytes",
		",":                                "openssl rand",
	} {
		got := problemsOf(t, nil, []string{"CONCERT_ADMIT_SECRET=" + value})
		if len(got) != 1 || !strings.Contains(got[0], says) || strings.Contains(got[0], goodSecret[:8]) {
			t.Errorf("%q", got)
		}
	}
}

func TestAdminTokenMustFitAHeader(t *testing.T) {
	for _, value := range []string{"two words", "tok\ten", "clé"} {
		got := problemsOf(t, nil, []string{"CONCERT_ADMIN_TOKEN=" + value})
		if len(got) != 1 || strings.Contains(got[0], value) {
			t.Errorf("%q", got)
		}
	}
}

func TestSecretsDoNotPrintThemselves(t *testing.T) {
	c := Default()
	c.AdminToken = "hunter2hunter2"
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&b, verb, c.AdminToken)
		fmt.Fprintf(&b, verb, c.AdmitSecrets)
		fmt.Fprintf(&b, verb, c)
	}
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "token", c.AdminToken)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "token", c.AdminToken)
	text, err := json.Marshal(map[string]any{"token": c.AdminToken, "keys": c.AdmitSecrets})
	if err != nil {
		t.Fatal(err)
	}
	b.Write(text)
	for _, leak := range []string{"hunter2", fmt.Sprintf("%x", "hunter2"),
		string(c.AdmitSecrets[0]), fmt.Sprintf("%x", c.AdmitSecrets[0]), fmt.Sprint(c.AdmitSecrets[0])} {
		if strings.Contains(b.String(), leak) {
			t.Errorf("%q in %s", leak, b.String())
		}
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{10 * time.Second: "10s", time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h", 100 * time.Millisecond: "100ms", 3660 * time.Second: "1h1m", 0: "0"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
