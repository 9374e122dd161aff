package deploy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// stage is a machine of which the installer sees only what a test shows: a tree
// of files, and stand-ins for the programs that would change a real machine.
type stage struct {
	t         *testing.T
	dir, tree string
	binary    string // the one to install
	address   string // where its Concert listens
}

// site is where installed Concerts listen: each stage has a loopback address to
// itself, and a port that nothing is given by chance.
const site = "18080"

func newStage(t *testing.T, binary, address string) *stage {
	t.Helper()
	dir := t.TempDir()
	s := &stage{t: t, dir: dir, tree: filepath.Join(dir, "tree"), address: net.JoinHostPort(address, site)}
	for _, folder := range []string{"tree", "bin", "data", "upload"} {
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
	}
	standIn, err := filepath.Abs("testdata/stand-in")
	must(t, err)
	for _, name := range []string{"ausearch", "checkmodule", "chown", "dnf", "firewall-cmd", "getenforce", "id", "ps", "restorecon",
		"runuser", "semanage", "semodule", "semodule_package", "setsebool", "systemctl", "useradd", "userdel"} {
		must(t, os.Symlink(standIn, filepath.Join(dir, "bin", name)))
	}
	s.write("enforce", "Enforcing\n")
	s.write("label", "system_u:system_r:concert_t:s0\n")
	s.upload(binary, "")
	t.Cleanup(s.end)
	s.notified()
	return s
}

func (s *stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(s.path(name), []byte(text), 0o600))
}

// installed returns a file of the tree; none is "".
func (s *stage) installed(name string) string {
	text, err := os.ReadFile(filepath.Join(s.tree, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(text)
}

// upload puts a binary where an operator would, with its checksum; more bytes at
// the end make it another one that does the same.
func (s *stage) upload(binary, more string) {
	s.t.Helper()
	text, err := os.ReadFile(binary)
	must(s.t, err)
	text = append(text, more...)
	s.binary = s.path("upload", "concert")
	must(s.t, os.WriteFile(s.binary, text, 0o600)) // as uploads are: not executable
	must(s.t, os.WriteFile(s.path("upload", "SHA256SUMS"), fmt.Appendf(nil, "%x  concert\n", sha256.Sum256(text)), 0o600))
}

// notified does what systemd does with notifications: a process that takes over
// says that it is the main one.
func (s *stage) notified() {
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path("notify"), Net: "unixgram"})
	must(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	go func() { // ends with the socket
		message := make([]byte, 4096)
		for {
			n, err := conn.Read(message)
			if err != nil {
				return
			}
			for line := range strings.Lines(string(message[:n])) {
				if pid, ok := strings.CutPrefix(strings.TrimSpace(line), "MAINPID="); ok {
					_ = os.WriteFile(s.path("pid.new"), []byte(pid+"\n"), 0o600) // seen as an upgrade that does not end
					_ = os.Rename(s.path("pid.new"), s.path("pid"))
				}
			}
		}
	}()
}

// pid is Concert's, or 0.
func (s *stage) pid() int {
	text, err := os.ReadFile(s.path("pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(s.t, err)
	return pid
}

// end ends Concert, and whoever took over from it.
func (s *stage) end() {
	if pid := s.pid(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	if s.t.Failed() {
		log, _ := os.ReadFile(s.path("log"))
		s.t.Logf("concert's log:\n%s", log)
	}
}

// run runs the installer; calls are those of the stand-ins, without questions.
func (s *stage) run(args ...string) (status int, said string, calls []string) {
	s.t.Helper()
	_ = os.Remove(s.path("calls"))
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "./installer.sh", args...)
	cmd.Env = []string{"PATH=" + s.path("bin") + ":/usr/bin:/bin", "STAGE=" + s.dir, "TREE=" + s.tree}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		s.t.Fatal(err)
	}
	text, _ := os.ReadFile(s.path("calls")) // there may have been none
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		questions := []string{"id ", "getenforce", "ps ", "semanage port -l", "semodule -l", "systemctl is-active", "systemctl show", "ausearch"}
		if !slices.ContainsFunc(questions, func(q string) bool { return strings.HasPrefix(line+" ", q) }) {
			calls = append(calls, strings.ReplaceAll(line, s.dir, ""))
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), calls
}

// install runs it for the tree.
func (s *stage) install(args ...string) (status int, said string, calls []string) {
	s.t.Helper()
	return s.run(append([]string{"install", "--root", s.tree, "--binary", s.binary, "--listen", s.address}, args...)...)
}

// good runs it and wants success.
func (s *stage) good(run func(args ...string) (int, string, []string), args ...string) (said string, calls []string) {
	s.t.Helper()
	status, said, calls := run(args...)
	if status != 0 {
		s.t.Fatalf("installer.sh %q: status %d\n%s", args, status, said)
	}
	return said, calls
}

// files lists the tree, each file with its mode.
func (s *stage) files() []string {
	var all []string
	must(s.t, filepath.WalkDir(s.tree, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		all = append(all, fmt.Sprintf("%s %o", strings.TrimPrefix(path, s.tree), info.Mode().Perm()))
		return err
	}))
	return all
}
