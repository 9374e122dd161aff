//go:build unix

package php

import (
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestLibrary runs the library's own checks.
func TestLibrary(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), parts.Program(t, "php"), "testdata/concert_test.php").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "ok: ") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// site is the example page behind a Concert with one page slot and a lane of
// one.
type site struct {
	t    *testing.T
	url  string
	free string // making this file ends requests for /hold
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, free: filepath.Join(t.TempDir(), "free")}
	loaded, err := config.Load([]string{"-upstream", "http://" + s.startPHP(), "-cap", "1", "-priority-cap", "1",
		"-priority-wait", "0", "-door-wait", "0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(loaded.Config, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Handler())
	t.Cleanup(server.Close)
	t.Cleanup(s.let) // what is held must not hold up the end
	s.url = server.URL
	return s
}

// startPHP runs PHP's own server until the test ends, and returns its address.
func (s *site) startPHP() string {
	s.t.Helper()
	address := parts.Address(s.t) // PHP cannot be handed a socket
	log, err := os.Create(filepath.Join(s.t.TempDir(), "log"))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(parts.Program(s.t, "php"), "-d", "session.save_path="+s.t.TempDir(), "-S", address, "testdata/router.php")
	cmd.Env = append(os.Environ(), "FREE="+s.free, "PHP_CLI_SERVER_WORKERS=4")
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its workers do not end with it
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails only when all have ended
		_ = cmd.Wait()                                      // ends by the signal
		_ = log.Close()                                     // PHP wrote it
		text, err := os.ReadFile(log.Name())
		if err != nil || strings.Contains(string(text), "Warning") || strings.Contains(string(text), "Fatal") || strings.Contains(string(text), "Deprecated") {
			s.t.Errorf("PHP complains: %v\n%s", err, text)
		}
	})
	rawtest.Until(s.t, "PHP's server answers", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close() // only to see that it is there
		}
		return err == nil
	})
	return address
}

// let ends requests for /hold.
func (s *site) let() {
	if err := os.WriteFile(s.free, nil, 0o600); err != nil {
		s.t.Error(err)
	}
}

// visitor is a browser without patience: it does not wait.
type visitor struct {
	*site
	client *http.Client
}

func (s *site) visitor() *visitor {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &visitor{s, &http.Client{Jar: jar, Timeout: rawtest.Patience}}
}

// ask sends a request, a form when there is one, and follows redirects.
func (v *visitor) ask(path string, form url.Values) (status int, body string) {
	v.t.Helper()
	method, content := http.MethodGet, ""
	if form != nil {
		method, content = http.MethodPost, form.Encode()
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, strings.NewReader(content))
	if err != nil {
		v.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if resp.Header.Get("Concert-Priority") != "" {
		v.t.Errorf("%s: the visitor sees Concert-Priority: %s", path, resp.Header.Get("Concert-Priority"))
	}
	return resp.StatusCode, string(text)
}

// rank returns the visitor's rank cookie; "" for none.
func (v *visitor) rank() string {
	u, err := url.Parse(v.url)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range v.client.Jar.Cookies(u) {
		if c.Name == "concert_priority" {
			return c.Value
		}
	}
	return ""
}

func (v *visitor) wantOrigin(path string, form url.Values, mark string) {
	v.t.Helper()
	if status, body := v.ask(path, form); status != http.StatusOK || !strings.Contains(body, mark) {
		v.t.Errorf("%s: status %d, want the shop's page with %q in:\n%s", path, status, mark, body)
	}
}

func (v *visitor) wantWaiting(path string) {
	v.t.Helper()
	if _, body := v.ask(path, nil); !strings.Contains(body, `id="position"`) {
		v.t.Errorf("%s: want the waiting page, got:\n%s", path, body)
	}
}

// TestRanksOfARealSite goes through the example shop while its only page slot
// is taken.
func TestRanksOfARealSite(t *testing.T) {
	s := newSite(t)
	guest, anna, ben := s.visitor(), s.visitor(), s.visitor()
	guest.wantOrigin("/", nil, "Sign in")
	anna.wantOrigin("/sign-in", url.Values{"name": {"anna"}}, "Signed in as anna")
	ben.wantOrigin("/sign-in", url.Values{"name": {"ben"}}, "Signed in as ben")
	if guest.rank() != "" || anna.rank() == "" || ben.rank() == "" {
		t.Fatalf("ranks: guest %q, anna %q, ben %q", guest.rank(), anna.rank(), ben.rank())
	}
	holder := s.visitor()
	held := make(chan string)
	go func() { // ends when the file is made, at the latest with the test
		_, body := holder.ask("/hold", nil)
		held <- body
	}()
	rawtest.Until(t, "the page slot is taken", func() bool {
		_, body := s.visitor().ask("/", nil)
		return strings.Contains(body, `id="position"`)
	})

	guest.wantWaiting("/")
	ben.wantWaiting("/") // a member
	anna.wantOrigin("/", nil, "Signed in as anna")
	ben.wantOrigin("/checkout", url.Values{}, "we have received your order") // a form
	ben.wantOrigin("/", nil, "Signed in as ben")                             // at the checkout now

	kept := anna.rank()
	status, _ := anna.ask("/sign-out", url.Values{})
	if anna.rank() != "" {
		t.Errorf("signed out with status %d, and still of rank %q", status, anna.rank())
	}
	anna.wantWaiting("/")
	u, _ := url.Parse(s.url)
	anna.client.Jar.SetCookies(u, []*http.Cookie{{Name: "concert_priority", Value: kept}})
	anna.wantWaiting("/") // what she kept is worth nothing

	s.let()
	if body := <-held; body != "held" {
		t.Errorf("the holder got %q", body)
	}
}
