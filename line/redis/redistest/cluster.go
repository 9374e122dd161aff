package redistest

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// Cluster is three masters that share the slots, and a replica of one of them.
type Cluster struct {
	Masters []*Server
	Owner   *Server // the master that has the key the cluster was made for
	Replica *Server // of that one
}

// URL is where two of the masters are, for a client that finds the others.
func (c *Cluster) URL() string { return c.Masters[0].URL() + "?addr=" + c.Masters[1].Addr }

// StartCluster runs a cluster in which a replica takes over from the master that
// has a key, within a few seconds of its end.
func StartCluster(t testing.TB, key string) *Cluster {
	t.Helper()
	c := &Cluster{}
	var all []*Server
	var asks []func(words ...string) string
	for k := range 4 {
		bus := parts.Port(t)
		s := Start(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus),
			"--cluster-node-timeout", "1500", "--repl-diskless-sync-delay", "0")
		ask := asker(t, s.Client(t))
		ask("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(k+1))
		if k < 3 {
			c.Masters = append(c.Masters, s)
			ask("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(k*5461), strconv.Itoa(k*5461+5460+k/2))
		}
		if k > 0 {
			host, port, _ := net.SplitHostPort(s.Addr)
			asks[0]("CLUSTER", "MEET", host, port, strconv.Itoa(bus))
		}
		all, asks = append(all, s), append(asks, ask)
	}
	for _, ask := range asks {
		rawtest.Until(t, "a node knows the whole cluster", func() bool {
			info := ask("CLUSTER", "INFO")
			return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:4")
		})
	}
	slot, err := strconv.Atoi(asks[0]("CLUSTER", "KEYSLOT", key))
	if err != nil {
		t.Fatalf("find the slot of %s: %v", key, err)
	}
	owner := min(slot/5461, 2)
	c.Owner, c.Replica = all[owner], all[3]
	asks[3]("CLUSTER", "REPLICATE", asks[owner]("CLUSTER", "MYID"))
	rawtest.Until(t, "the replica copies its master", func() bool {
		return strings.Contains(asks[3]("INFO", "replication"), "master_link_status:up")
	})
	return c
}

// asker sends commands to one server, and fails the test when one fails.
func asker(t testing.TB, c rueidis.Client) func(words ...string) string {
	return func(words ...string) string {
		t.Helper()
		m, err := c.Do(t.Context(), c.B().Arbitrary(words...).Build()).ToMessage()
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		if n, err := m.AsInt64(); err == nil {
			return strconv.FormatInt(n, 10)
		}
		text, err := m.ToString()
		if err != nil {
			t.Fatalf("%v: %v", words, err)
		}
		return text
	}
}
