//go:build unix

package gate

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	offsite "github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/api"
	"github.com/andreimerlescu/concert/gate/memory"
	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/persist"
)

// sessionKey is 32 bytes for those who decode it, and 64 for the others.
var sessionKey = strings.Repeat("0123456789abcdef", 4)

// rig is a waiting room, and a site behind it in a process of its own.
type rig struct {
	*testing.T
	store  offsite.Store
	ring   *token.Ring
	room   *httptest.Server
	url    string // the site's
	client *http.Client
}

// newRig starts a site: start gets an address to listen on and the
// environment. once has each token taken once; without it, the site alone
// judges tokens.
func newRig(t *testing.T, once bool, start func(t *testing.T, addr string, env []string)) *rig {
	t.Helper()
	now := time.Now()
	f, err := token.NewFile(now)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, client: &http.Client{Timeout: rawtest.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if r.ring, err = token.NewRing(f); err != nil {
		t.Fatal(err)
	}
	if r.store, err = memory.New(memory.Options{Start: now}); err != nil {
		t.Fatal(err)
	}
	room := offsite.DefaultRoom()
	room.ID, room.Audience = "demo", "shop"
	if _, err := r.store.Create(t.Context(), now, persist.By{}, room); err != nil {
		t.Fatal(err)
	}
	public, err := api.NewPublic(api.Config{Store: r.store, Ring: r.ring, Resolver: clientip.NewResolver(nil)})
	if err != nil {
		t.Fatal(err)
	}
	r.room = httptest.NewServer(public)
	t.Cleanup(r.room.Close)
	addr := parts.Address(t)
	r.url = "http://" + addr
	validate := ""
	if once {
		validate = r.room.URL + "/api/v1/validate"
	}
	start(t, addr, append(os.Environ(), "WAITING_ROOM_URL="+r.room.URL, "GATE_ROOM=demo", "TOKEN_AUDIENCE=shop", "SESSION_KEY="+sessionKey,
		"JWKS_URL="+r.room.URL+"/.well-known/jwks.json", "VALIDATE_URL="+validate))
	awaitAddress(t, addr)
	return r
}

func awaitAddress(t *testing.T, addr string) {
	t.Helper()
	rawtest.Until(t, addr+" listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close() // only to see that it is there
		}
		return err == nil
	})
}

// run starts a program that ends with the test, workers and all. Its output is
// shown when the test fails.
func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails only when all have ended
		_ = cmd.Wait()                                      // ends by the signal
		_ = log.Close()                                     // the program wrote it
		text, err := os.ReadFile(log.Name())
		for _, mark := range []string{"Warning", "Fatal error", "Deprecated", "[emerg]", "Uncaught"} {
			if err != nil || strings.Contains(string(text), mark) {
				t.Errorf("%s complains: %v\n%s", name, err, text)
				return
			}
		}
		if t.Failed() {
			t.Logf("%s:\n%s", name, text)
		}
	})
}

func startPHP(t *testing.T, addr string, env []string) {
	php := parts.Program(t, "php")
	// Workers, so that the site can ask while it is asked.
	run(t, append(env, "PHP_CLI_SERVER_WORKERS=2", "KEYS_FILE="+filepath.Join(t.TempDir(), "keys.json")), php, "-S", addr, "php/index.php")
}

func startNode(t *testing.T, addr string, env []string) {
	run(t, env, parts.Program(t, "node"), "node/site.mjs", addr)
}

// startNginx runs the configuration of the example, with addresses of the
// test's, in front of a site that this process serves.
func startNginx(t *testing.T, addr string, env []string) {
	nginx := parts.Program(t, "nginx")
	binary := filepath.Join(t.TempDir(), "gate")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", binary, "./nginx").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	auth := parts.Address(t)
	run(t, append(env, "LISTEN="+auth), binary)
	awaitAddress(t, auth)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "site %s ticket 1\n", r.URL.RequestURI()) // nginx reads it
	}))
	t.Cleanup(site.Close)
	text, err := os.ReadFile("nginx/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	conf := strings.NewReplacer("127.0.0.1:8089", addr, "127.0.0.1:8090", auth, "http://127.0.0.1:3000", site.URL,
		"events {}", "daemon off; pid "+dir+"/pid; error_log stderr; events {}",
		"http {", "http { access_log off; client_body_temp_path "+dir+"/a; proxy_temp_path "+dir+"/b; fastcgi_temp_path "+dir+"/c; uwsgi_temp_path "+dir+"/d; scgi_temp_path "+dir+"/e;").Replace(string(text))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, env, nginx, "-p", dir, "-c", file)
}

// access is a good token of the room.
func (r *rig) access() string {
	r.Helper()
	now := time.Now()
	st, err := r.store.Join(context.WithoutCancel(r.Context()), now, "demo")
	if err != nil {
		r.Fatal(err)
	}
	g, err := r.store.Exchange(context.WithoutCancel(r.Context()), now, "demo", st.Ticket)
	if err != nil {
		r.Fatal(err)
	}
	return r.sign(g)
}

// sign makes a token of any grant, with the room's key.
func (r *rig) sign(g offsite.Grant) string {
	r.Helper()
	raw, err := r.ring.Access(g, time.Now())
	if err != nil {
		r.Fatal(err)
	}
	return raw
}

// grant is one that the test makes up.
func grant(change func(*offsite.Grant)) offsite.Grant {
	g := offsite.Grant{Ticket: offsite.Ticket{Epoch: 1, Number: 99}, Room: offsite.DefaultRoom(), At: time.Now(), Until: time.Now().Add(time.Hour)}
	g.Room.ID, g.Room.Audience = "demo", "shop"
	change(&g)
	return g
}

type answer struct {
	status   int
	location string
	body     string
	cookie   *http.Cookie
}

// ask sends a request for an address, byte for byte.
func (r *rig) ask(method, uri string, cookie *http.Cookie) answer {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.url+"/", nil)
	if err != nil {
		r.Fatal(err)
	}
	req.URL.Opaque = uri
	if strings.HasPrefix(uri, "//") {
		req.URL.Opaque = r.url + uri // net/http takes two slashes for a host; servers get a whole URL then
	}
	if cookie != nil {
		req.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	a := answer{status: resp.StatusCode, location: resp.Header.Get("Location"), body: string(body)}
	if c := resp.Cookies(); len(c) > 0 {
		a.cookie = c[0]
	}
	return a
}

// wantRoom wants a redirect to the waiting room, to come back to an address.
func (r *rig) wantRoom(what string, a answer, back string) {
	r.Helper()
	u, err := url.Parse(a.location)
	if err != nil || a.status != http.StatusFound || !strings.HasPrefix(a.location, r.room.URL+"/?") || u.Query().Get("room") != "demo" || u.Query().Get("return") != back || a.cookie != nil {
		r.Errorf("%s: %d to %q, cookie %v; want the waiting room, to come back to %s", what, a.status, a.location, a.cookie, back)
	}
}
