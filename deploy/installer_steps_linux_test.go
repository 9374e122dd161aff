package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestInstaller goes through the life of an installation: the first time, once
// more, with edited settings, with a new binary, and to its end.
func TestInstaller(t *testing.T) {
	t.Parallel()
	binary := build(t)
	s := newStage(t, binary, "127.0.88.1")

	said, calls := s.good(s.install, "--upstream", "http://127.0.0.1:3000", "--capacity", "7")
	wantFiles := []string{
		"/etc/concert/concert.env 640", "/etc/concert/installer.state 600",
		"/etc/systemd/system/concert-naddr-data.service 644", "/etc/systemd/system/concert-naddr-data.timer 644",
		"/etc/systemd/system/concert.service 644", "/etc/systemd/system/concert.socket 644", "/etc/systemd/system/concert.socket.d/listen.conf 644",
		"/usr/local/bin/concert 755",
	}
	if got := s.files(); !slices.Equal(got, wantFiles) {
		t.Errorf("installed:\n%s", strings.Join(got, "\n"))
	}
	inOrder(t, calls, "useradd --system", "chown root:concert /tree/etc/concert", "chown root:concert /tree/etc/concert/concert.env.new",
		"semodule -i", "semanage port -m -t concert_port_t -p tcp 3000", "semanage port -a -t concert_port_t -p tcp 18080", "semanage port -a -t concert_port_t -p tcp 8081",
		"runuser -u concert -- /tree/usr/local/bin/concert.new -version", "restorecon /tree/usr/local/bin/concert",
		"systemctl daemon-reload", "systemctl enable concert.service", "systemctl enable concert.socket",
		"systemctl restart concert.socket", "systemctl start concert.service", "systemctl enable --now concert-naddr-data.timer", "systemctl start --no-block concert-naddr-data.service")
	if !strings.Contains(said, "Concert answers") || !strings.Contains(said, "it is confined") {
		t.Errorf("it did not look whether Concert serves:\n%s", said)
	}
	settings := s.installed("etc/concert/concert.env")
	for _, want := range []string{`\nCONCERT_LISTEN=127\.0\.88\.1:18080\n`, `\nCONCERT_UPSTREAM=http://127\.0\.0\.1:3000\n`, `\nCONCERT_CAPACITY=7\n`,
		`\nCONCERT_ADMIT_SECRET=[0-9a-f]{64}\n`, `\nCONCERT_ADMIN_TOKEN=[0-9a-f]{64}\n`, `\nCONCERT_PORTAL_PASS=[0-9a-f]{32}\n`, `\nNADDR_DATA=/var/lib/concert/naddr/`} {
		if !regexp.MustCompile(want).MatchString(settings) {
			t.Errorf("concert.env does not have %s:\n%s", want, settings)
		}
	}
	if got := s.installed("etc/systemd/system/concert.socket.d/listen.conf"); got != "[Socket]\nListenStream=\nListenStream="+s.address+"\n" {
		t.Errorf("listen.conf: %s", got)
	}
	for _, secret := range regexp.MustCompile(`=[0-9a-f]{32,}`).FindAllString(settings, -1) {
		if strings.Contains(said+strings.Join(calls, "\n"), secret[1:]) {
			t.Error("a secret was printed, or was on a command line")
		}
	}
	s.isRepeatable(wantFiles, settings)
	s.takesEditedSettings(settings)
	s.upgrades(binary)
	s.uninstalls()
}

// inOrder wants calls that begin like this, in this order.
func inOrder(t *testing.T, calls []string, want ...string) {
	t.Helper()
	at := 0
	for _, call := range calls {
		if at < len(want) && strings.HasPrefix(call, want[at]) {
			at++
		}
	}
	if at < len(want) {
		t.Errorf("no %q in its turn among:\n%s", want[at], strings.Join(calls, "\n"))
	}
}

// isRepeatable: a second time changes nothing, and visitors notice nothing.
func (s *stage) isRepeatable(files []string, settings string) {
	s.t.Helper()
	pid := s.pid()
	said, calls := s.good(s.install, "--capacity", "9")
	for _, call := range calls {
		if !slices.ContainsFunc([]string{"chown ", "restorecon ", "checkmodule ", "semodule_package ", "systemctl enable", "systemctl start --no-block concert-naddr"}, func(harmless string) bool { return strings.HasPrefix(call, harmless) }) {
			s.t.Errorf("the second time, it did: %s", call)
		}
	}
	if s.pid() != pid || !slices.Equal(s.files(), files) || s.installed("etc/concert/concert.env") != settings {
		s.t.Error("the second time was not like the first")
	}
	if !strings.Contains(said, "--capacity has no effect") {
		s.t.Errorf("it does not say that the settings stay:\n%s", said)
	}
	if _, calls = s.good(s.install, "--restart"); s.pid() == pid || !slices.Contains(calls, "systemctl restart concert.service") {
		s.t.Error("--restart does not restart")
	}
}

// takesEditedSettings: settings are judged before they are put in force.
func (s *stage) takesEditedSettings(settings string) {
	s.t.Helper()
	pid := s.pid()
	path := filepath.Join(s.tree, "etc/concert/concert.env")
	must(s.t, os.WriteFile(path, []byte(settings+"CONCERT_CAPACITY=none\nCONCERT_MAX_QUEUE=many\n"), 0o640))
	status, said, calls := s.install()
	if status != 1 || s.pid() != pid || !strings.Contains(said, "/etc/concert/concert.env") || !strings.Contains(said, "none") || !strings.Contains(said, "many") {
		s.t.Errorf("wrong settings: status %d\n%s%s", status, said, strings.Join(calls, "\n"))
	}
	must(s.t, os.WriteFile(path, []byte(settings+"CONCERT_CAPACITY=8\n"), 0o640))
	if _, calls = s.good(s.install, "--no-start"); s.pid() != pid || slices.Contains(calls, "systemctl restart concert.service") {
		s.t.Error("--no-start starts the service")
	}
	_, calls = s.good(s.install)
	if s.pid() == pid || !slices.Contains(calls, "systemctl restart concert.service") {
		s.t.Error("edited settings have no effect, or none after --no-start")
	}
}

// upgrades: a new binary takes over from the old one, and one that does not
// serve makes way for it again.
func (s *stage) upgrades(binary string) {
	s.t.Helper()
	old, before := s.pid(), s.installed("usr/local/bin/concert")
	s.upload(binary, "two")
	_, calls := s.good(s.install)
	inOrder(s.t, calls, "runuser -u concert", "systemctl kill --signal=USR2 --kill-who=main concert.service")
	if slices.Contains(calls, "systemctl restart concert.service") || s.pid() == old || s.installed("usr/local/bin/concert") == before {
		s.t.Errorf("the new binary did not take over:\n%s", strings.Join(calls, "\n"))
	}

	good, pid := s.installed("usr/local/bin/concert"), s.pid()
	s.upload(binary, "three")
	s.write("label", "system_u:system_r:unconfined_service_t:s0\n")
	if status, said, _ := s.install(); status != 1 || !strings.Contains(said, "not confined as concert_t") {
		s.t.Errorf("an unconfined Concert: status %d\n%s", status, said)
	}
	s.write("label", "system_u:system_r:concert_t:s0\n")
	s.good(s.install)
	good, pid = s.installed("usr/local/bin/concert"), s.pid()

	s.upload(binary, "four")
	s.write("fail", "systemctl kill --signal=USR2")
	status, said, _ := s.install()
	must(s.t, os.Remove(s.path("fail")))
	if status != 1 || s.pid() == pid || s.installed("usr/local/bin/concert") != good || !strings.Contains(said, "the binary of before serves again") {
		s.t.Errorf("a binary that does not serve: status %d\n%s", status, said)
	}
	s.good(s.install)
}

// uninstalls: all goes but settings and data, and those when they are to.
func (s *stage) uninstalls() {
	s.t.Helper()
	// What an operator added stays theirs.
	must(s.t, os.WriteFile(filepath.Join(s.tree, "etc/systemd/system/concert.socket.d/own.conf"), nil, 0o644))
	_, calls := s.good(s.run, "uninstall", "--root", s.tree)
	inOrder(s.t, calls, "systemctl disable --now concert.socket", "systemctl disable --now concert.service", "systemctl disable --now concert-naddr-data.timer",
		"systemctl daemon-reload", "semanage port -d -p tcp 3000", "semodule -r concert", "restorecon -R")
	if got := s.files(); !slices.Equal(got, []string{"/etc/concert/concert.env 640", "/etc/systemd/system/concert.socket.d/own.conf 644"}) {
		s.t.Errorf("left behind: %q", got)
	}
	if ports, _ := os.ReadFile(s.path("ports")); len(ports) > 0 {
		s.t.Errorf("ports are still labelled: %s", ports)
	}
	if _, calls := s.good(s.run, "uninstall", "--root", s.tree); len(calls) > 0 {
		s.t.Errorf("a second time: %q", calls)
	}
	_, calls = s.good(s.run, "uninstall", "--purge", "--root", s.tree)
	if _, err := os.Stat(filepath.Join(s.tree, "etc/concert")); err == nil || !slices.Contains(calls, "userdel concert") {
		s.t.Errorf("purge leaves something: %q", calls)
	}
}

// TestInstallerDryRun prints the steps and takes none.
func TestInstallerDryRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, build(t), "127.0.88.3")
	f := func(args []string, says, not []string) {
		t.Helper()
		said, calls := s.good(s.install, append(args, "--dry-run")...)
		if len(calls) > 0 || len(s.files()) > 0 {
			t.Errorf("%q did %q", args, calls)
		}
		for _, want := range says {
			if !strings.Contains(said, want) {
				t.Errorf("%q does not say %q:\n%s", args, want, said)
			}
		}
		for _, unwanted := range not {
			if strings.Contains(said, unwanted) {
				t.Errorf("%q says %q:\n%s", args, unwanted, said)
			}
		}
	}
	f(nil, []string{"semodule -i", "systemctl start concert.service", "concert.socket.d/listen.conf", "concert-naddr-data.timer", "nothing was changed"}, []string{"firewall", "low-ports", "setsebool"})
	f([]string{"--no-selinux", "--no-socket", "--no-database", "--no-start"}, []string{"systemctl enable concert.service"}, []string{"semodule", "concert.socket", "naddr-data", "systemctl start"})
	f([]string{"--listen", "0.0.0.0:443", "--firewall", "--zone", "public"}, []string{"services/concert.xml", "firewall-cmd --permanent --zone=public --add-service=concert"}, []string{"low-ports", "port -a -t concert_port_t -p tcp 443"})
	f([]string{"--listen", "0.0.0.0:443", "--no-socket"}, []string{"concert.service.d/low-ports.conf"}, nil)
	f([]string{"--firewall"}, []string{"for this machine only"}, []string{"firewall-cmd"})
	f([]string{"--connect-any", "--port", "9999"}, []string{"setsebool -P concert_connect_any on", "concert_port_t -p tcp 9999"}, nil)
	f([]string{"--upstream", "http://127.0.0.1"}, nil, []string{"port -m"}) // 80 is a web server's
	if status, said, _ := s.install("--listen", "localhost:8080", "--dry-run"); status != 1 || !strings.Contains(said, "use an IP address in /etc/concert/concert.env, or --no-socket") {
		t.Errorf("a name to listen on: status %d\n%s", status, said)
	}
	s.write("enforce", "Disabled\n")
	f(nil, nil, []string{"semodule"})
}

// TestInstallerKeepsChoices: what was chosen once holds until it is chosen anew.
func TestInstallerKeepsChoices(t *testing.T) {
	t.Parallel()
	s := newStage(t, build(t), "0.0.0.0")
	s.good(s.install, "--no-start", "--firewall", "--zone", "dmz", "--no-database", "--connect-any", "--port", "9001")
	if xml := s.installed("etc/firewalld/services/concert.xml"); !strings.Contains(xml, `<port protocol="tcp" port="18080"/>`) {
		t.Errorf("concert.xml: %s", xml)
	}
	_, calls := s.good(s.install, "--no-start")
	for _, call := range calls {
		if strings.Contains(call, "firewall") || strings.Contains(call, "setsebool") || strings.Contains(call, "naddr") {
			t.Errorf("the second time, it did: %s", call)
		}
	}
	_, calls = s.good(s.install, "--no-start", "--zone", "public")
	inOrder(t, calls, "firewall-cmd --permanent --zone=dmz --remove-service=concert", "firewall-cmd --permanent --zone=public --add-service=concert")
	_, calls = s.good(s.install, "--no-start", "--no-firewall", "--database", "--no-connect-any")
	inOrder(t, calls, "setsebool -P concert_connect_any off", "firewall-cmd --permanent --zone=public --remove-service=concert", "systemctl enable --now concert-naddr-data.timer")
	if s.installed("etc/firewalld/services/concert.xml") != "" || s.installed("etc/systemd/system/concert-naddr-data.timer") == "" {
		t.Error("other choices have no effect")
	}
	s.good(s.install, "--no-start", "--firewall")
	path := filepath.Join(s.tree, "etc/concert/concert.env")
	must(t, os.WriteFile(path, []byte(strings.Replace(s.installed("etc/concert/concert.env"), "0.0.0.0:", "127.0.0.1:", 1)), 0o640))
	_, calls = s.good(s.install, "--no-start")
	inOrder(t, calls, "firewall-cmd --permanent --zone=public --remove-service=concert")
	if s.installed("etc/firewalld/services/concert.xml") != "" {
		t.Error("nothing listens for others any more, and the firewall is open")
	}
}

// TestInstallerPutsOffSockets: addresses that changed while nothing was to be
// started are opened by the next run that may start, and once only.
func TestInstallerPutsOffSockets(t *testing.T) {
	t.Parallel()
	s := newStage(t, build(t), "127.0.88.5")
	s.good(s.install)
	pid, settings := s.pid(), s.installed("etc/concert/concert.env")
	edited := strings.Replace(settings, "=127.0.88.5:", "=127.0.88.6:", 1)
	must(t, os.WriteFile(filepath.Join(s.tree, "etc/concert/concert.env"), []byte(edited), 0o640))
	for range 2 { // what the first put off, the second does not forget
		_, calls := s.good(s.install, "--no-start")
		for _, call := range calls {
			if strings.Contains(call, " stop ") || strings.Contains(call, "restart") || strings.Contains(call, " start concert.") {
				t.Errorf("--no-start did: %s", call)
			}
		}
		if state := s.installed("etc/concert/installer.state"); s.pid() != pid || !strings.Contains(state, "\npending=sockets\n") {
			t.Errorf("not put off, or not noted:\n%s", state)
		}
	}
	if got := s.installed("etc/systemd/system/concert.socket.d/listen.conf"); !strings.Contains(got, "=127.0.88.6:") {
		t.Errorf("listen.conf: %s", got)
	}
	_, calls := s.good(s.install)
	inOrder(t, calls, "systemctl stop concert.service", "systemctl restart concert.socket", "systemctl start concert.service")
	if s.pid() == pid || strings.Contains(s.installed("etc/concert/installer.state"), "sockets") {
		t.Error("what was put off was not done, or is still to do")
	}
	pid = s.pid()
	if _, calls = s.good(s.install); s.pid() != pid || slices.Contains(calls, "systemctl restart concert.socket") {
		t.Errorf("it is done again:\n%s", strings.Join(calls, "\n"))
	}
}
