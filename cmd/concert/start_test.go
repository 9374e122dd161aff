package main

import (
	"bytes"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
)

// TestStartEndsWithListening: whoever waits for Concert reads up to the line that
// says that it serves the site, and finds there all that it serves.
func TestStartEndsWithListening(t *testing.T) {
	loaded, err := config.Load([]string{"-rooms", `[{"id":"a","paths":["/a"],"cap":1}]`}, nil)
	if err != nil {
		t.Fatal(err)
	}
	open := func() net.Listener {
		t.Helper()
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ln.Close() })
		return ln
	}
	var out bytes.Buffer
	logStart(slog.New(slog.NewTextHandler(&out, nil)), app.Sockets{Site: open(), Redirect: open(), Gate: open(), GateAdmin: open(), Portal: open()}, loaded.Config)
	var said []string
	for _, m := range regexp.MustCompile(`msg=("[^"]*"|\S+)`).FindAllStringSubmatch(out.String(), -1) {
		said = append(said, strings.Trim(m[1], `"`))
	}
	const want = "plain HTTP beside TLS, rooms beside the default one, off-site rooms, operator portal, listening"
	if got := strings.Join(said, ", "); got != want {
		t.Errorf("Concert says %s; want %s", got, want)
	}
}
