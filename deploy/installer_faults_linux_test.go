package deploy

import (
	"os"
	"strings"
	"testing"
)

// TestInstallerSaysAllThatIsWrong at once, and does nothing.
func TestInstallerSaysAllThatIsWrong(t *testing.T) {
	t.Parallel()
	s := newStage(t, build(t), "127.0.88.2")
	f := func(args []string, says ...string) {
		t.Helper()
		status, said, calls := s.run(args...)
		if status != 2 || len(calls) > 0 || len(s.files()) > 0 {
			t.Errorf("%q: status %d, calls %q", args, status, calls)
		}
		for _, want := range says {
			if !strings.Contains(said, want) {
				t.Errorf("%q does not say %q:\n%s", args, want, said)
			}
		}
	}
	f([]string{"instal", "--port", "99999", "--sha256", "12", "--purge", "--capacity", "x", "--zone", "a b", "--root", "nowhere", "--listen", "a b", "--listen=x", "--upstream"},
		"instal is not known", "say what to do", "--port 99999", "--sha256 12", "--purge goes with", "--capacity x", "--zone a b", "--root nowhere", "--listen 'a b'", "--listen x", "--upstream needs a value")
	f([]string{"install", "--root", s.tree, "--binary", "/nowhere"}, "--binary /nowhere: no such file")
	f([]string{"install", "--root", s.tree, "--binary", "installer.sh"}, "not a Linux program")
	f([]string{"install", "--root", s.tree, "--binary", s.binary, "--sha256", strings.Repeat("0", 64)}, "has the checksum", "get it again")
	s.write("upload/SHA256SUMS", strings.Repeat("0", 64)+"  other\n")
	f([]string{"install", "--root", s.tree, "--binary", s.binary}, "does not have concert: give --sha256")
	text, err := os.ReadFile(s.binary)
	must(t, err)
	text[18], text[19] = 0x08, 0 // ELF e_machine: MIPS
	must(t, os.WriteFile(s.path("mips"), text, 0o600))
	f([]string{"install", "--root", s.tree, "--binary", s.path("mips")}, "for another processor")
	if status, said, _ := s.run("--help"); status != 0 || !strings.Contains(said, "--dry-run") {
		t.Errorf("--help: status %d\n%s", status, said)
	}
}

// TestInstallerFailsHalfWay: it says where it stopped, and goes on from there.
func TestInstallerFailsHalfWay(t *testing.T) {
	t.Parallel()
	s := newStage(t, build(t), "127.0.88.4")
	s.write("fail", "checkmodule")
	if status, _, _ := s.install(); status == 0 || len(s.files()) > 0 {
		t.Errorf("a policy that cannot be built: status %d, installed %q", status, s.files())
	}
	for _, call := range []string{"useradd", "semodule -i", "semanage port -a", "runuser", "systemctl daemon-reload", "systemctl start concert.service", "systemctl enable --now"} {
		s.write("fail", call)
		if status, said, _ := s.install(); status != 1 || !strings.Contains(said, "told to fail") || !strings.Contains(said, "stopped in the step") {
			t.Errorf("%s fails: status %d\n%s", call, status, said)
		}
	}
	must(t, os.Remove(s.path("fail")))
	s.good(s.install)
	if s.pid() == 0 || s.installed("etc/concert/installer.state") == "" {
		t.Error("it did not go on to the end")
	}
}
