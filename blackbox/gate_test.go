package blackbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// gateProcess is a Concert with off-site rooms.
type gateProcess struct {
	*launch.Process
	t         *testing.T
	public    string // the URLs of both sides
	operators string
}

// redisEnv begins a last argument that is meant for the environment.
const redisEnv = "CONCERT_REDIS_URL="

// operatorsAddress finds where the operators' API listens.
var operatorsAddress = regexp.MustCompile(`address=(\S+) operators=(\S+)`)

func startGate(t *testing.T, command string, args ...string) *gateProcess {
	t.Helper()
	env := []string{"CONCERT_ADMIN_TOKEN=" + adminToken}
	if n := len(args); n > 0 && strings.HasPrefix(args[n-1], redisEnv) {
		env, args = append(env, args[n-1], "CONCERT_ADMIT_SECRET="+strings.Repeat("s", 32)), args[:n-1]
	}
	p, err := launch.Start(context.WithoutCancel(t.Context()), launch.Options{
		Binary: binary, Command: command, Env: env,
		Args: append([]string{"-gate-listen", "127.0.0.2:0", "-gate-admin-listen", "127.0.0.3:0"}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		checkLog(t, p)
	})
	var found []string
	rawtest.Until(t, "the log says where the operators' API is", func() bool { // a line or two after the site's address
		found = operatorsAddress.FindStringSubmatch(p.Stderr())
		return found != nil
	})
	return &gateProcess{p, t, "http://" + found[1], "http://" + found[2]}
}

// call sends a request and returns the answer's JSON.
func (g *gateProcess) call(want int, method, url, bearer, body string) map[string]any {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		g.t.Fatalf("%s %s: %d, want %d: %s %v", method, url, resp.StatusCode, want, text, err)
	}
	var answer map[string]any
	if len(text) > 0 && json.Unmarshal(text, &answer) != nil {
		g.t.Fatalf("%s %s: %s", method, url, text)
	}
	return answer
}

func (g *gateProcess) admin(want int, method, path, body string) map[string]any {
	g.t.Helper()
	return g.call(want, method, g.operators+"/api/v1/admin"+path, adminToken, body)
}

func (g *gateProcess) join() (token string, ticket float64) {
	g.t.Helper()
	p := g.call(200, "POST", g.public+"/api/v1/queue/join", "", `{"room":"demo"}`)
	token, _ = p["queue_token"].(string)
	ticket, _ = p["ticket"].(float64)
	return token, ticket
}

const demoRoom = `{"id":"demo","inflow":1,"interval":"1h","burst":1,"target_url":"https://shop.example/"}`

// TestGateAlone goes through a room of concert gate, and a restart of it.
func TestGateAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := startGate(t, "gate", "-data-dir", dir)
	g.call(401, "GET", g.operators+"/api/v1/admin/rooms", "", "")
	g.admin(201, "POST", "/rooms", demoRoom)
	first, _ := g.join()
	second, ticket := g.join()
	access := g.call(200, "POST", g.public+"/api/v1/queue/token", first, `{"return":"/x"}`)
	raw, _ := access["access_token"].(string)
	if access["redirect_url"] != "https://shop.example/x?token="+raw {
		t.Errorf("%v", access)
	}
	if err := g.Stop(within(t, rawtest.Patience)); err != nil {
		t.Fatal(err)
	}

	g = startGate(t, "gate", "-data-dir", dir)
	st := g.call(200, "GET", g.public+"/api/v1/queue/status", second, "")
	if st["position"] != 1.0 || st["ticket"] != ticket {
		t.Errorf("after the restart: %v", st)
	}
	once, _ := json.Marshal(map[string]any{"token": raw, "one_time": true})
	g.call(200, "POST", g.public+"/api/v1/validate", "", string(once))
	g.call(401, "POST", g.public+"/api/v1/validate", "", string(once))
	g.admin(200, "POST", "/rooms/demo/actions", `{"action":"open"}`)
	next, _ := st["queue_token"].(string)
	if st := g.call(200, "GET", g.public+"/api/v1/queue/status", next, ""); st["admitted"] != true {
		t.Errorf("with the gates open: %v", st)
	}
	out, err := exec.CommandContext(t.Context(), parts.Program(t, "curl"), "-sS", g.operators+"/_room/metrics").Output()
	if err != nil || !strings.Contains(string(out), `concert_gate_admitted_total{room="demo"} 2`) {
		t.Errorf("%v in the metrics: %.500s", err, out)
	}
}

// TestGateOnRedis has two processes share a room.
func TestGateOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	file := t.TempDir() + "/keys.json"
	if out, err := exec.CommandContext(t.Context(), binary, "keys", "new", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	one := startGate(t, "gate", "-gate-keys", file, "-redis-room", "test", redisEnv+server.URL())
	other := startGate(t, "gate", "-gate-keys", file, "-redis-room", "test", redisEnv+server.URL())
	one.admin(201, "POST", "/rooms", demoRoom)
	first, _ := other.join()
	second, ticket := one.join()
	if ticket != 2.0 {
		t.Errorf("ticket %v", ticket)
	}
	raw, _ := other.call(200, "POST", other.public+"/api/v1/queue/token", first, "")["access_token"].(string)
	once, _ := json.Marshal(map[string]any{"token": raw, "one_time": true})
	one.call(200, "POST", one.public+"/api/v1/validate", "", string(once))
	other.call(401, "POST", other.public+"/api/v1/validate", "", string(once))
	if st := other.call(200, "GET", other.public+"/api/v1/queue/status", second, ""); st["position"] != 1.0 {
		t.Errorf("%v", st)
	}
	one.call(401, "GET", one.public+"/api/v1/queue/status", second, "") // burnt by the other
	if err := one.Stop(within(t, rawtest.Patience)); err != nil {
		t.Fatal(err)
	}
	if l := other.admin(200, "GET", "/rooms/demo", ""); l["issued"] != 2.0 || l["passed_total"] != 1.0 {
		t.Errorf("%v", l)
	}
	server.Kill()
	if a := other.call(503, "POST", other.public+"/api/v1/queue/join", "", `{"room":"demo"}`); a["code"] != "unavailable" {
		t.Errorf("without Redis: %v", a)
	}
}

// TestGateKeysRotate has a running Concert take a new key into use.
func TestGateKeysRotate(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/keys.json"
	keys := func(verb string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), binary, "keys", verb, file).CombinedOutput()
		if err != nil {
			t.Fatalf("concert keys %s: %v\n%s", verb, err, out)
		}
		return string(out)
	}
	keys("new")
	g := startGate(t, "gate", "-gate-keys", file)
	published := func() int {
		list, _ := g.call(200, "GET", g.public+"/.well-known/jwks.json", "", "")["keys"].([]any)
		return len(list)
	}
	if n := published(); n != 1 {
		t.Fatalf("%d keys", n)
	}
	if out := keys("rotate"); strings.Count(out, "signs from") != 2 || !strings.Contains(out, "published until") {
		t.Errorf("rotate says:\n%s", out)
	}
	rawtest.Until(t, "the new key is published", func() bool { return published() == 2 })
}

func TestGateSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	f := func(want string, args ...string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), binary, append(args, "-data-dir", "")...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	f("Set CONCERT_ADMIN_TOKEN, with which operators sign in", "gate")
	f(`-gate-listen is empty`, "-gate-admin-listen", "127.0.0.1:0")
	f("concert keys new /nowhere/keys.json", "-gate-listen", "127.0.0.1:0", "-gate-keys", "/nowhere/keys.json")
}
