//go:build unix

package blackbox

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/parts"
)

// units are the files of deploy/systemd that systemd reads.
var units = []string{"concert.service", "concert.socket", "concert-naddr-data.service", "concert-naddr-data.timer"}

// TestUnits has systemd itself look at the units: it finds nothing to complain
// about, and little that the services could do to the machine.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze, dir := parts.Program(t, "systemd-analyze"), t.TempDir()
	args := []string{"verify", "--man=no"}
	for _, name := range units {
		text := deployed(t, "systemd/"+name)
		if name == "concert.service" { // where it is installed there is none in a test
			text = replaced(t, text, "/usr/local/bin/concert", binary)
		}
		write(t, dir, name, text)
		args = append(args, filepath.Join(dir, name))
	}
	verify := func() {
		t.Helper()
		if out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze verify: %v\n%s", err, out)
		}
	}
	verify()
	for _, name := range []string{"concert.service", "concert-naddr-data.service"} {
		// In tenths: what systemd calls OK ends at 4.9.
		out, err := exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=yes", "--threshold=25", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze security %s: %v\n%s", name, err, out)
		}
	}
	write(t, filepath.Join(dir, "concert.service.d"), "low-ports.conf", deployed(t, "systemd/concert.service.d/low-ports.conf"))
	verify()
}

// TestUnitSettings: Concert takes the settings file, and listens where the
// socket unit does.
func TestUnitSettings(t *testing.T) {
	t.Parallel()
	status, _, stderr := exit(t, []string{"CONCERT_ENV_FILE=../deploy/systemd/concert.env"}, "check")
	if status != 0 || stderr != "" {
		t.Errorf("concert check: status %d, %s", status, stderr)
	}
	_, listen, _ := strings.Cut(deployed(t, "systemd/concert.env"), "\nCONCERT_LISTEN=")
	listen, _, _ = strings.Cut(listen, "\n")
	if listen == "" || !strings.Contains(deployed(t, "systemd/concert.socket"), "\nListenStream="+listen+"\n") {
		t.Errorf("concert.socket does not listen on %q", listen)
	}
}

// TestUnitAllowsEnoughFiles: each request at the origin has two descriptors,
// and there may be as many as the tiers together have slots by default.
func TestUnitAllowsEnoughFiles(t *testing.T) {
	t.Parallel()
	loaded, err := config.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := loaded.Config
	_, text, _ := strings.Cut(deployed(t, "systemd/concert.service"), "\nLimitNOFILE=")
	text, _, _ = strings.Cut(text, "\n")
	limit, err := strconv.Atoi(text)
	if need := 2 * (c.Cap + c.AssetSlots() + c.StreamCap); err != nil || limit < need {
		t.Errorf("LimitNOFILE=%q, want %d at least", text, need)
	}
}

// steps runs the commands of a oneshot unit until one fails, as systemd does.
func steps(t *testing.T, unit string, env ...string) error {
	t.Helper()
	ran := 0
	for line := range strings.Lines(unit) {
		command, ok := strings.CutPrefix(line, "ExecStart=")
		if !ok {
			continue
		}
		fields := strings.Fields(command)
		cmd := exec.CommandContext(t.Context(), fields[0], fields[1:]...)
		cmd.Env = append(os.Environ(), env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %v %s", fields[0], err, out)
			return err
		}
		ran++
	}
	if ran != 3 {
		t.Fatalf("the unit has %d steps", ran)
	}
	return nil
}

// TestDatabaseDownload runs the steps of concert-naddr-data.service: a whole
// file takes the place of the old one, anything else leaves it.
func TestDatabaseDownload(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "gzip"} {
		parts.Program(t, "/usr/bin/"+name) // where the unit has it
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("192.0.2.0\t192.0.2.255\t64496\tZZ\tEXAMPLE\n"))
	_ = z.Close() // into memory
	whole := packed.Bytes()
	answers := map[string][]byte{"/whole": whole, "/torn": whole[:len(whole)-4], "/page": []byte("<!doctype html>")}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers[r.URL.Path] == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write(answers[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	write(t, dir, "roots.pem", string(roots))
	const database = "ip2asn-combined.tsv.gz"
	fetch := func(path string) error {
		return steps(t, replaced(t, deployed(t, "systemd/concert-naddr-data.service"),
			"/var/lib/concert/naddr", dir,
			"https://iptoasn.com/data/"+database, s.URL+path), "CURL_CA_BUNDLE="+filepath.Join(dir, "roots.pem"))
	}
	for _, path := range []string{"/torn", "/page", "/missing"} {
		write(t, dir, database, "the old one")
		if err := fetch(path); err == nil || read(t, dir, database) != "the old one" {
			t.Errorf("%s: error %v, and the database is %q", path, err, read(t, dir, database))
		}
	}
	if err := fetch("/whole"); err != nil || read(t, dir, database) != string(whole) {
		t.Errorf("a whole file: error %v", err)
	}
}
