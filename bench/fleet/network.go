package fleet

import (
	"testing"

	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// network is how the instances reach Redis, and how each is cut off from it.
type network interface {
	// home is the address of this machine at which the origin is reached.
	home() string
	// redis runs the server.
	redis() *redistest.Server
	// join is how an instance is run: the program, and the arguments and the
	// environment that are special to it.
	join(instance int) (binary string, args, env []string)
	cut(instance int) error
	mend(instance int) error
	// String names it in a report.
	String() string
}

// relays is a network on the loopback, with a relay in front of Redis for each
// instance. Whoever is cut off can still connect, and nothing arrives.
type relays struct {
	binary string
	server *redistest.Server
	each   []*redistest.Relay
}

func newRelays(tb testing.TB, binary string, instances int) *relays {
	tb.Helper()
	n := &relays{binary: binary, server: redistest.Start(tb)}
	for range instances {
		n.each = append(n.each, redistest.StartRelay(tb, n.server.Addr))
	}
	return n
}

func (n *relays) home() string             { return "127.0.0.1" }
func (n *relays) redis() *redistest.Server { return n.server }
func (n *relays) String() string           { return "relays on the loopback" }

func (n *relays) cut(k int) error {
	n.each[k].Cut()
	return nil
}

func (n *relays) mend(k int) error {
	n.each[k].Mend()
	return nil
}

func (n *relays) join(k int) (binary string, args, env []string) {
	return n.binary, nil, []string{"CONCERT_REDIS_URL=" + n.each[k].URL()}
}

// connect makes the network of a scenario: a real one where it is wanted and
// possible.
func connect(tb testing.TB, binary string, s Scenario) network {
	tb.Helper()
	if s.Network {
		n, err := newCables(tb, binary, s.Instances)
		if err == nil {
			return n
		}
		tb.Logf("relays stand in for a network: %v", err)
	}
	return newRelays(tb, binary, s.Instances)
}
