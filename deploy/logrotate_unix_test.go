//go:build unix

package deploy

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestLogrotate has logrotate itself rotate the log of a running Concert, which
// goes on in the emptied file.
func TestLogrotate(t *testing.T) {
	t.Parallel()
	logrotate, dir := program(t, "logrotate"), t.TempDir()
	text, err := os.ReadFile("logrotate/concert")
	must(t, err)
	conf := filepath.Join(dir, "conf")
	must(t, os.WriteFile(conf, []byte(strings.ReplaceAll(string(text), "/var/log/concert", dir)), 0o600))
	path := filepath.Join(dir, "concert.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	cmd := exec.Command(build(t), "-listen", "127.0.0.1:0", "-upstream", "http://127.0.0.1:1", "-data-dir", "")
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	address := regexp.MustCompile(`msg=listening address=(\S+)`)
	has := func(pattern *regexp.Regexp) []string {
		t.Helper()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for end := time.Now().Add(patience); time.Now().Before(end); <-again.C {
			text, err := os.ReadFile(path)
			must(t, err)
			if found := pattern.FindStringSubmatch(string(text)); found != nil {
				return found
			}
		}
		t.Fatalf("the log never has %s", pattern)
		return nil
	}
	url := "http://" + has(address)[1]

	out, err := exec.CommandContext(t.Context(), logrotate, "--force", "--state", filepath.Join(dir, "state"), conf).CombinedOutput()
	if err != nil {
		t.Fatalf("logrotate: %v\n%s", err, out)
	}
	old, err := os.ReadFile(path + ".1")
	must(t, err)
	if !address.Match(old) {
		t.Errorf("what was logged before is not in %s.1: %s", path, old)
	}
	resp, err := http.Get(url + "/after")
	must(t, err)
	_, _ = io.Copy(io.Discard, resp.Body) // only that it was asked for matters
	_ = resp.Body.Close()
	has(regexp.MustCompile(`target=/after`)) // the access log
	if now, err := os.ReadFile(path); err != nil || address.Match(now) || strings.Contains(string(now), "\x00") {
		t.Errorf("the log was not emptied, or has a hole: %v\n%q", err, now)
	}
}
