package config

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// most is the largest count that a setting takes.
const most = "2147483647"

// bounded is a setting with bounds, and whether 0 is accepted below them.
type bounded struct {
	flag, min, max string
	zero           bool
}

// TestBounds: the bounds of numbers and durations.
func TestBounds(t *testing.T) {
	covered := make(map[string]bool)
	for _, b := range allBounded {
		covered[b.flag] = true
		t.Run(b.flag, b.holds)
	}
	for _, s := range Settings() {
		if s.Min != "" && !covered[s.Flag] {
			t.Errorf("-%s: bounds not tested", s.Flag)
		}
	}
}

func (b bounded) holds(t *testing.T) {
	for _, good := range []string{b.min, b.max} {
		// No grace is long enough for the longest -retry-after, and no ban is
		// longer than the longest.
		mustLoad(t, []string{"-first-poll-grace=0", "-abuse-cooldown=1ms", "-abuse-max-cooldown=8760h",
			"-" + b.flag + "=" + good}, nil)
	}
	refused(t, b.flag, past(t, b.min, -1), b.min, b.max)
	refused(t, b.flag, past(t, b.max, +1), b.min, b.max)
	refused(t, b.flag, "many", b.min, b.max)
	if b.zero {
		mustLoad(t, []string{"-" + b.flag + "=0"}, nil)
	} else {
		refused(t, b.flag, "0", b.min, b.max)
	}
}

var allBounded = []bounded{
	{"cap", "1", most, false},
	{"max-queue", "0", most, true},
	{"queue-per-client", "0", most, true},
	{"max-conns", "0", most, true},
	{"max-conns-per-client", "0", most, true},
	{"inflow", "0", "1000000", true},
	{"inflow-interval", "100ms", "1h", false},
	{"inflow-burst", "0", "1000000", true},
	{"token-ttl", "30s", "24h", true},
	{"first-poll-grace", "10s", "24h", true},
	{"reaper", "5s", "24h", false},
	{"door-wait", "0", "1m", true},
	{"door-max", "0", "65536", true},
	{"retry-after", "1", "3600", false},
	{"admit-ttl", "30s", "8760h", false},
	{"asset-cap", "0", most, true},
	{"asset-wait", "0", "24h", true},
	{"asset-user-cap-h1", "1", most, false},
	{"asset-user-cap-h2", "1", most, false},
	{"asset-user-wait", "0", "24h", true},
	{"stream-cap", "1", most, false},
	{"stream-idle-timeout", "1s", "168h", true},
	{"priority-cap", "0", most, true},
	{"priority-lane-rank", "1", "7", false},
	{"priority-wait", "0", "1m", true},
	{"form-hold", "0", "1m", true},
	{"rate", "0", "1000000", true},
	{"surge", "0", "1000000", true},
	{"pass", "1m", "24h", true},
	{"abuse-strikes", "1", most, false},
	{"abuse-window", "1ms", "168h", false},
	{"abuse-cooldown", "1ms", "8760h", false},
	{"abuse-max-cooldown", "1ms", "8760h", false},
	{"abuse-max-entries", "1", "100000000", false},
	{"history-mask-after", "1h", "168h", true},
	{"portal-session-ttl", "5m", "8760h", false},
	{"naddr-data-poll", "1s", "24h", true},
	{"gate-joins", "0", "1000000", true},
	{"gate-requests", "0", "1000000", true},
	{"upstream-timeout", "0", "24h", true},
	{"upstream-idle-timeout", "1s", "24h", true},
	{"read-header-timeout", "1s", "10m", false},
	{"body-timeout", "1s", "1h", false},
	{"write-timeout", "1s", "1h", false},
	{"idle-timeout", "1s", "24h", false},
	{"shutdown-timeout", "0", "1h", true},
	{"max-header-bytes", "4096", "1048576", false},
	{"max-body-bytes", "0", "1125899906842624", true},
	{"hsts", "0", "17520h", true},
}

// past is the value one step beyond a bound.
func past(t *testing.T, bound string, step int64) string {
	t.Helper()
	if n, err := strconv.ParseInt(bound, 10, 64); err == nil {
		return strconv.FormatInt(n+step, 10)
	}
	d, err := time.ParseDuration(bound)
	if err != nil {
		t.Fatal(err)
	}
	return (d + time.Duration(step)).String()
}

// refused wants value refused in one line that names the flag, the value and
// what would be accepted, the same through the flag and the variable.
func refused(t *testing.T, flag, value string, accepted ...string) {
	t.Helper()
	all := Settings()
	at := slices.IndexFunc(all, func(s Setting) bool { return s.Flag == flag })
	if at < 0 {
		t.Fatalf("there is no setting -%s", flag)
	}
	answers := map[string][]string{"-" + flag: problemsOf(t, []string{"-" + flag + "=" + value}, nil)}
	if env := all[at].Env; value != "" { // a blank variable counts as unset
		answers[env] = problemsOf(t, nil, []string{env + "=" + value})
	}
	for name, lines := range answers {
		if prefix := name + " " + strconv.Quote(value) + ": want "; len(lines) != 1 || !strings.HasPrefix(lines[0], prefix) {
			t.Errorf("%q does not start with %q", lines, prefix)
		}
		for _, part := range accepted {
			if !strings.Contains(lines[0], part) {
				t.Errorf("%q does not say %q", lines[0], part)
			}
		}
	}
}

func TestGraceAndRetryAfter(t *testing.T) {
	mustLoad(t, []string{"-first-poll-grace=12s", "-retry-after=6"}, nil)
	mustLoad(t, []string{"-first-poll-grace=0", "-retry-after=3600"}, nil)
	got := problemsOf(t, nil, []string{"CONCERT_FIRST_POLL_GRACE=11s", "CONCERT_RETRY_AFTER=6"})
	if want := `CONCERT_FIRST_POLL_GRACE "11s": want 0 or at least twice CONCERT_RETRY_AFTER, 12s: raise it, or lower the other`; got[0] != want {
		t.Errorf("got  %s\nwant %s", got[0], want)
	}
}

func TestDerivedValues(t *testing.T) {
	tests := map[string]struct {
		args []string
		got  func(*Config) int
		want int
	}{
		"asset slots by default": {nil, (*Config).AssetSlots, 434 * 128},
		"asset slots as set":     {[]string{"-asset-cap=7"}, (*Config).AssetSlots, 7},
		"asset slots clamped":    {[]string{"-cap=2147483647", "-asset-user-cap-h2=2147483647"}, (*Config).AssetSlots, math.MaxInt32},
		"burst follows inflow":   {[]string{"-inflow=30"}, (*Config).Burst, 30},
		"burst as set":           {[]string{"-inflow=30", "-inflow-burst=5"}, (*Config).Burst, 5},
		"ticket ttl by default":  {nil, func(c *Config) int { return int(c.TicketTTL().Seconds()) }, 300},
		"ticket ttl as set":      {[]string{"-token-ttl=1m"}, func(c *Config) int { return int(c.TicketTTL().Seconds()) }, 60},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tt.got(mustLoad(t, tt.args, nil).Config); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestValidateJudgesChangedFields(t *testing.T) {
	tests := map[string]struct {
		change func(*Config)
		want   string
	}{
		"number":   {func(c *Config) { c.Cap = 0 }, `-cap "0": want a number`},
		"duration": {func(c *Config) { c.Reaper = time.Second }, `-reaper "1s": want a duration`},
		"seconds":  {func(c *Config) { c.RetryAfter = 1500 * time.Millisecond }, `-retry-after "1": want a whole number`},
		"choice":   {func(c *Config) { c.QueueStatusCode = 404 }, `-queue-status-code "404": want 200, 202, 429 or 503`},
		"url":      {func(c *Config) { c.Upstream = nil }, `-upstream "": want an http, https or h2c URL`},
		"secrets":  {func(c *Config) { c.AdmitSecrets = nil }, `CONCERT_ADMIT_SECRET "(hidden)": want secrets`},
		"rule":     {func(c *Config) { c.FirstPollGrace, c.RetryAfter = 10*time.Second, time.Minute }, `-first-poll-grace "10s": want 0 or at least`},
		"file":     {func(c *Config) { c.HTML.Content = make([]byte, maxFileBytes+1) }, `-html "": want a readable file`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := Default()
			tt.change(c)
			if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
