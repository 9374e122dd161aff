package blackbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/parts/chromium"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// startTarget runs concert target-demo until the test ends, and returns its
// URL.
func startTarget(t *testing.T, env ...string) string {
	t.Helper()
	cmd := exec.Command(binary, "target-demo", "-listen", "127.0.0.1:0")
	cmd.Env = append(env, "GOCOVERDIR="+os.Getenv("GOCOVERDIR"))
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // ends by the signal
	})
	line := make([]byte, 4096)
	n, err := log.Read(line)
	if err != nil {
		t.Fatalf("read the log: %v", err)
	}
	_, rest, _ := strings.Cut(string(line[:n]), "msg=listening address=")
	addr, _, _ := strings.Cut(rest, " ")
	if addr == "" {
		t.Fatalf("target-demo says %s", line[:n])
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // ends with the process
	return "http://" + addr
}

// gatedSite is a room with a site behind it, both as processes.
type gatedSite struct {
	*gateProcess
	site string
}

func startGatedSite(t *testing.T) *gatedSite {
	t.Helper()
	g := &gatedSite{gateProcess: startGate(t, "gate", "-gate-listen", "127.0.0.1:0")}
	g.site = startTarget(t, "WAITING_ROOM_URL="+g.public, "GATE_ROOM=demo", "TOKEN_AUDIENCE=shop",
		"JWKS_URL="+g.public+"/.well-known/jwks.json", "VALIDATE_URL="+g.public+"/api/v1/validate")
	g.admin(201, "POST", "/rooms", fmt.Sprintf(`{"id":"demo","name":"The shop","inflow":1,"interval":"1h","burst":1,"audience":"shop","target_url":%q}`, g.site))
	return g
}

// poke has a waiting page ask at once, as when its tab is looked at again.
func poke(t *testing.T, ctx context.Context) {
	t.Helper()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`dispatchEvent(new Event("online"))`)); err != nil {
		t.Fatal(err)
	}
}

// TestGateInABrowser walks from a protected site to its room and back to the
// very address, while somebody tries to use the visitor's token.
func TestGateInABrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	g := startGatedSite(t)
	g.join() // takes the one permit
	g.admin(201, "POST", "/rooms/demo/messages", `{"text":"Sold out in S","level":"warning"}`)

	if err := chromedp.Do(ctx, chromedp.Navigate(g.site+"/products/42?size=M&a=%22")); err != nil {
		t.Fatal(err)
	}
	chromium.Until(t, ctx, `document.getElementById("position")?.textContent === "1" && document.getElementById("confirmed-row")?.hidden === false`)
	chromium.Until(t, ctx, `document.getElementById("message-text").textContent === "Sold out in S" && !document.getElementById("message").hidden`)
	chromium.Until(t, ctx, `document.title === "1 · You are in line · The shop"`)

	// A second tab has the same place, and asks in turn with the first.
	second, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(second, chromedp.Navigate(g.site+"/other")); err != nil {
		t.Fatal(err)
	}
	chromium.Until(t, second, `document.getElementById("position")?.textContent === "1"`)

	// Somebody has got hold of the queue token: it is theirs for one answer.
	kept, err := chromedp.Run(ctx, chromedp.Evaluate[string](`localStorage.getItem("concert.room.demo")`))
	if err != nil {
		t.Fatal(err)
	}
	var place struct {
		Token string `json:"queue_token"`
	}
	if err := json.Unmarshal([]byte(kept), &place); err != nil || place.Token == "" {
		t.Fatalf("the browser keeps %q", kept)
	}
	stolen, _ := g.call(200, "GET", g.public+"/api/v1/queue/status", place.Token, "")["queue_token"].(string)
	poke(t, ctx)
	chromium.Until(t, ctx, fmt.Sprintf(`!localStorage.getItem("concert.room.demo").includes(%q)`, place.Token))
	g.call(401, "GET", g.public+"/api/v1/queue/status", stolen, "")

	if l := g.admin(200, "GET", "/rooms/demo", ""); l["issued"] != 2.0 {
		t.Errorf("two tabs and a thief hold %v tickets", l["issued"])
	}
	g.admin(200, "POST", "/rooms/demo/actions", `{"action":"open"}`)
	poke(t, ctx)
	chromium.Until(t, ctx, `document.getElementById("who")?.textContent.startsWith("You waited with ticket 2")`)
	chromium.Until(t, ctx, fmt.Sprintf(`location.href === %q`, g.site+"/products/42?size=M&a=%22"))
	// The session is the browser's, so the other tab passes.
	if err := chromedp.Do(second, chromedp.Navigate(g.site+"/other")); err != nil {
		t.Fatal(err)
	}
	chromium.Until(t, second, `document.getElementById("address")?.textContent === "/other"`)
	if st := g.admin(200, "GET", "/rooms/demo/stats", ""); st["passed_total"] != 1.0 {
		t.Errorf("%v", st)
	}
}

// TestGateRoomOpensLater: a visitor who comes to a closed room waits without a
// ticket, and joins by themselves when it opens.
func TestGateRoomOpensLater(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	g := startGatedSite(t)
	g.admin(200, "PATCH", "/rooms/demo", `{"enabled":false}`)
	if err := chromedp.Do(ctx, chromedp.Navigate(g.site+"/a")); err != nil {
		t.Fatal(err)
	}
	chromium.Until(t, ctx, `document.getElementById("closed")?.textContent.startsWith("The waiting room is closed")`)
	g.admin(200, "PATCH", "/rooms/demo", `{"enabled":true}`)
	chromium.Until(t, ctx, `(dispatchEvent(new Event("online")), document.getElementById("address")?.textContent === "/a")`)
}

// TestGateTargetWithoutRoom: without its environment the site sends nobody
// away.
func TestGateTargetWithoutRoom(t *testing.T) {
	t.Parallel()
	url := startTarget(t, "TOKEN_AUDIENCE=shop", "JWKS_URL=http://127.0.0.1:1/")
	resp, err := http.Get(url + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }() // only its status counts
	if resp.StatusCode != 200 {
		t.Errorf("status %d", resp.StatusCode)
	}
	out, err := exec.CommandContext(within(t, rawtest.Patience), binary, "target-demo").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "JWKSURL") {
		t.Errorf("with nothing at all: %v, %s", err, out)
	}
}
