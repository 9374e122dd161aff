package listener

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
)

// wire is one end of a connection in memory, with an address.
type wire struct {
	net.Conn
	from net.Addr
}

func (w wire) RemoteAddr() net.Addr { return w.from }

// dial connects to the guard from an address. The guard's end is nil when the
// connection is refused.
func dial(t *testing.T, g *Guard, from string) (client net.Conn, server *guardedConn) {
	t.Helper()
	client, there := net.Pipe()
	t.Cleanup(func() { _ = client.Close() })
	server = g.accept(wire{there, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 4711))})
	if server == nil {
		_ = there.Close()
	} else {
		g.State(server, http.StateNew)
	}
	return client, server
}

// closed reports whether the other side has closed the connection.
func closed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

func trust(t *testing.T, list string) *clientip.Trust {
	t.Helper()
	set, err := clientip.ParseTrust(list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestLimitPerClient(t *testing.T) {
	g := New(Config{MaxPerClient: 2, Proxies: trust(t, "10.0.0.0/8"), Allow: trust(t, "198.51.100.7")})
	many := func(from string, n, want int) (last *guardedConn) {
		t.Helper()
		got := 0
		for range n {
			if _, c := dial(t, g, from); c != nil {
				got++
				last = c
			}
		}
		if got != want {
			t.Errorf("%s: %d of %d connections, want %d", from, got, n, want)
		}
		return last
	}
	one := many("203.0.113.9", 3, 2)
	many("203.0.113.10", 2, 2)
	many("2001:db8:1:2::1", 1, 1)
	many("2001:db8:1:2:ffff::9", 2, 1) // the same /64
	many("2001:db8:1:3::1", 2, 2)
	many("10.1.2.3", 5, 5)     // a proxy stands for many
	many("198.51.100.7", 5, 5) // and so may an address that is allowed
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	_ = one.Close() // counts once
	many("203.0.113.9", 2, 1)
	s := g.Stats()
	if s.Open != 18 || s.Clients != 6 || s.Refused["max-conns-per-client"] != 3 {
		t.Errorf("stats %+v", s)
	}
	g.Apply(Config{})
	many("203.0.113.9", 3, 3)
}

func TestRoomIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{MaxConns: 5, Proxies: trust(t, "10.0.0.1"), Allow: trust(t, "198.51.100.7")})
		proxy, _ := dial(t, g, "10.0.0.1")
		honest, _ := dial(t, g, "203.0.113.1")
		time.Sleep(time.Second)
		busy, active := dial(t, g, "203.0.113.9")
		g.State(active, http.StateActive)
		first, second := dial(t, g, "203.0.113.9")
		time.Sleep(time.Second)
		third, _ := dial(t, g, "203.0.113.9")

		// The client with most connections pays first, with the one that has
		// waited longest, though others wait longer.
		if _, c := dial(t, g, "203.0.113.20"); c == nil {
			t.Fatal("refused although there is somebody to close")
		}
		if !closed(first) || closed(third) || closed(honest) || closed(proxy) || closed(busy) {
			t.Error("the wrong connection was closed")
		}
		g.State(second, http.StateIdle) // it is on its way out: nothing comes of it
		_ = second.Close()
		if _, c := dial(t, g, "203.0.113.21"); c == nil || !closed(third) || closed(honest) {
			t.Error("the next one: want the other that waits of the same client")
		}
		_, a := dial(t, g, "203.0.113.22") // among equals, who waits longest
		if a == nil || !closed(honest) {
			t.Error("among equals the oldest is closed")
		}
		g.State(a, http.StateActive)
		if s := g.Stats(); s.Open != 5 || s.Shed != 3 {
			t.Errorf("stats %+v, want 5 open, 3 shed", s)
		}
	})
}

// One client's busy connections make room, too, when it has very many; its
// last ones, and those of others, stay.
func TestHoardsAreBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{MaxConns: 40})
		busy := func(from string) net.Conn {
			t.Helper()
			time.Sleep(time.Millisecond)
			client, server := dial(t, g, from)
			if server == nil {
				return nil
			}
			g.State(server, http.StateActive)
			return client
		}
		var others, hoarder []net.Conn
		for i := range 5 {
			others = append(others, busy("203.0.113."+string(rune('1'+i))))
		}
		for range 35 {
			hoarder = append(hoarder, busy("198.51.100.1"))
		}
		for i := range 4 { // as long as the hoarder has 32
			if busy("203.0.113.10") == nil || !closed(hoarder[i]) {
				t.Errorf("newcomer %d: refused, or the hoarder's oldest stays", i)
			}
		}
		if busy("203.0.113.11") != nil {
			t.Error("31 connections are no hoard, yet one more is served")
		}
		for _, c := range others {
			if closed(c) {
				t.Error("somebody else's connection was closed")
			}
		}
	})
}

func TestNobodyToClose(t *testing.T) {
	g := New(Config{MaxConns: 2, Proxies: trust(t, "10.0.0.1"), Allow: trust(t, "198.51.100.7")})
	_, a := dial(t, g, "203.0.113.1")
	g.State(a, http.StateActive)
	dial(t, g, "10.0.0.1") // waits, and is kept
	if _, c := dial(t, g, "203.0.113.2"); c != nil {
		t.Error("accepted above the limit")
	}
	if _, c := dial(t, g, "198.51.100.7"); c == nil {
		t.Error("an allowed address is refused")
	}
	g.State(a, http.StateIdle)
	_ = a.Close()
	if s := g.Stats(); s.Refused["max-conns"] != 1 || s.Shed != 0 || s.Open != 2 {
		t.Errorf("stats %+v", s)
	}
}

func TestResets(t *testing.T) {
	g := New(Config{})
	client, server := dial(t, g, "203.0.113.9")
	ctx, now := g.Context(t.Context(), server), time.Now()
	for i := range leastBurst {
		if Reset(ctx, now) {
			t.Fatalf("closed after %d resets", i+1)
		}
	}
	now = now.Add(time.Second)
	for i := range resetRate {
		if Reset(ctx, now) {
			t.Fatalf("closed after %d resets in a new second", i+1)
		}
	}
	if !Reset(ctx, now) || !closed(client) {
		t.Error("not closed although there are too many")
	}
	if Reset(ctx, now) {
		t.Error("closed twice")
	}
	if s := g.Stats(); s.Resets != 1 || s.Open != 0 {
		t.Errorf("stats %+v", s)
	}
	g.Apply(Config{Streams: 1000})
	_, server = dial(t, g, "203.0.113.9")
	ctx = g.Context(t.Context(), server)
	for i := range 3000 {
		if Reset(ctx, now) {
			t.Fatalf("closed after %d resets, where a thousand requests may be under way", i+1)
		}
	}
	if Reset(context.Background(), now) {
		t.Error("a request of no connection closes one")
	}
}

func TestAcceptingAllocatesLittle(t *testing.T) {
	g := New(Config{MaxConns: 100, MaxPerClient: 10})
	_, there := net.Pipe()
	w := wire{there, net.TCPAddrFromAddrPort(netip.MustParseAddrPort("203.0.113.9:1"))}
	g.accept(w) // the maps are made
	if n := allocs.PerRun(1000, func() { _ = g.accept(w).entry.in; g.leaveAll() }); n > 4 {
		t.Errorf("%v allocations for a connection", n)
	}
}

// leaveAll empties the guard.
func (g *Guard) leaveAll() {
	for e := range g.entries {
		g.removeLocked(e)
	}
}

func TestRefusalsAreTold(t *testing.T) {
	for r := notRefused + 1; r < numRefusals; r++ {
		if r.String() == "" || !strings.Contains(remedies[r], " ") {
			t.Errorf("refusal %d has no name or no remedy", r)
		}
	}
}
