package redisline

import (
	"regexp"
	"strconv"
	"testing"
	"time"
)

// scriptNumber is the number in the script that a pattern finds once.
func scriptNumber(t *testing.T, pattern string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)`+pattern).FindAllStringSubmatch(newScript().library, -1)
	if len(found) != 1 {
		t.Fatalf("%q is in the script %d times, want once", pattern, len(found))
	}
	n, err := strconv.ParseFloat(found[0][1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// scriptTime is a time that the script has a name for.
func scriptTime(t *testing.T, name, unit string) time.Duration {
	t.Helper()
	of := map[string]time.Duration{"MS": time.Millisecond, "SEC": time.Second}[unit]
	return time.Duration(scriptNumber(t, `^local `+name+` = ([0-9.]+) \* `+unit+`\b`) * float64(of))
}

// TestScriptAgrees: what the script and this package both go by is the same, or
// leaves the room that it is to leave.
func TestScriptAgrees(t *testing.T) {
	if there := scriptTime(t, "DETOUR", "SEC"); there != detour {
		t.Errorf("the detour is %v, and %v in the script", detour, there)
	}
	if there := scriptNumber(t, `SEC / (\d+)\)$`); there != pollsPerSecond {
		t.Errorf("a line asks %d times a second, and %v times in the script", pollsPerSecond, there)
	}
	l := New(Options{Conn: &Conn{}})
	if there := scriptNumber(t, `^local A = (\d+) `); int(there) != len(l.head(time.Now(), "", "")) {
		t.Errorf("%d arguments stand before those of an operation, and %v in the script", len(l.head(time.Now(), "", "")), there)
	}
	for _, is := range []struct {
		of     string
		here   time.Duration
		before string
		unit   string
	}{
		{"a share is good", shareFor, "LEASE", "SEC"},
		{"an instance is silent", heartbeat, "SUSPECT", "SEC"},
		{"mail waits to be confirmed", confirmAfter, "MUTE", "MS"},
	} {
		if limit := scriptTime(t, is.before, is.unit); is.here >= limit {
			t.Errorf("%s for %v, and %s in the script is %v", is.of, is.here, is.before, limit)
		}
	}
}
