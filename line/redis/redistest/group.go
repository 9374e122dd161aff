package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// Group is a server, a replica of it, and a sentinel that watches both.
type Group struct {
	Master, Replica *Server
	Sentinel        *Server
}

// StartGroup runs a group. The sentinel makes the replica the master within a
// second or two of the master's end.
func StartGroup(t testing.TB) *Group {
	t.Helper()
	parts.Program(t, "redis-sentinel")
	g := &Group{Master: Start(t)}
	host, port, _ := net.SplitHostPort(g.Master.Addr)
	g.Replica = Start(t, "--replicaof", host, port, "--repl-diskless-sync-delay", "0")
	g.Sentinel = startSentinel(t, host, port)
	c := g.Replica.Client(t)
	rawtest.Until(t, "the replica copies the master", func() bool {
		info, err := c.Do(t.Context(), c.B().Info().Section("replication").Build()).ToString()
		return err == nil && strings.Contains(info, "master_link_status:up")
	})
	s := g.Sentinel.Client(t)
	rawtest.Until(t, "the sentinel knows the replica", func() bool {
		all, err := s.Do(t.Context(), s.B().Arbitrary("SENTINEL", "REPLICAS", "m").Build()).ToArray()
		return err == nil && len(all) == 1
	})
	return g
}

func startSentinel(t testing.TB, host, port string) *Server {
	t.Helper()
	own := parts.Port(t)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor m %s %s 1\n"+
		"sentinel down-after-milliseconds m 500\nsentinel failover-timeout m 3000\n", own, host, port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatalf("start a sentinel: %v", err)
	}
	s := &Server{t: t, Addr: net.JoinHostPort("127.0.0.1", fmt.Sprint(own)), Dir: t.TempDir(), args: []string{file, "--sentinel"}}
	t.Cleanup(s.Kill)
	s.Restart()
	return s
}

// URL is where the group is, for a client that asks the sentinel.
func (g *Group) URL() string { return g.Sentinel.URL() + "?master_set=m" }
