package blackbox

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestCurl walks through the README's example for programs.
func TestCurl(t *testing.T) {
	path := parts.Program(t, "curl")
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	jar := filepath.Join(t.TempDir(), "jar")
	curl := func(url string) (status, body string) {
		out, err := exec.CommandContext(within(t, rawtest.Patience), path,
			"-sS", "--noproxy", "*", "-c", jar, "-b", jar, "-w", "\n%{http_code}", url).Output()
		if err != nil {
			t.Fatalf("curl %s: %v", url, err)
		}
		i := strings.LastIndexByte(string(out), '\n')
		return string(out[i+1:]), string(out[:i])
	}
	if status, body := curl(p.URL + "/api/orders"); status != "429" || !strings.Contains(body, `"status_url":"/queue/status"`) {
		t.Fatalf("first: status %s, body %q", status, body)
	}
	if status, body := curl(p.URL + "/queue/status"); status != "200" || !strings.Contains(body, `"ready":false`) || !strings.Contains(body, `"position":1`) {
		t.Errorf("status: %s, body %q", status, body)
	}
	o.openAll()
	rawtest.Until(t, "the room is free", func() bool { return stats(t, p).Occupancy == 0 })
	if status, body := curl(p.URL + "/api/orders"); status != "200" || !strings.Contains(body, originMark) {
		t.Errorf("last: status %s, body %q", status, body)
	}
}
