//go:build !race

package blackbox

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestStackAtTheDoor: a crowd at the door is memory, and half of it are the
// stacks of net/http's goroutines. They double when they are too small: what
// stands on them between the connection and the door must stay below 8 KiB,
// beside the 2 KiB of the goroutine that looks out for the visitor's leaving.
func TestStackAtTheDoor(t *testing.T) {
	const crowd, most = 200, 12 << 10
	site, _ := holdingSite(t, func(http.ResponseWriter, *http.Request) {})
	p := start(t, site, "-cap", "1", "-door-wait", "1m")
	fillRoom(t, p)
	before := stackBytes(t, p)
	for i := range crowd {
		rawtest.Dial(t, p.Addr).Send(fmt.Sprintf("GET /%d HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n", i))
	}
	rawtest.Until(t, "the crowd stands at the door", func() bool { return stats(t, p).AtDoor == crowd })
	if each := (stackBytes(t, p) - before) / crowd; each > most {
		t.Errorf("%d bytes of stack for each request at the door, want at most %d", each, most)
	}
}

var stackMetric = regexp.MustCompile(`(?m)^go_memstats_stack_inuse_bytes (\S+)$`)

// stackBytes is how much memory the stacks of Concert's goroutines take.
func stackBytes(t *testing.T, p *launch.Process) int {
	t.Helper()
	_, body := call(t, http.MethodGet, p.URL+"/_room/metrics", adminToken, "")
	found := stackMetric.FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no %v in the metrics", stackMetric)
	}
	bytes, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(bytes)
}
