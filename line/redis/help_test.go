package redisline

import (
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// settings are those of most tests, with a number of slots.
func settings(slots int) line.Settings {
	return line.Settings{
		Policy: line.Policy{Cap: slots}, TTL: 5 * time.Minute, FirstPollGrace: 30 * time.Second,
		DoorMax: 1000, DoorWait: 3 * time.Second,
	}
}

// join makes an instance of the room "t" that runs on the clock, and ends with
// the test.
func join(tb testing.TB, s *redistest.Server, name string, slots int) *Line {
	tb.Helper()
	l := New(Options{Conn: connect(tb, s), Room: "t", Instance: name, Settings: settings(slots)})
	if err := l.Join(tb.Context(), time.Now()); err != nil {
		tb.Fatal(err)
	}
	return l
}

// connect makes a connection of its own to a server.
func connect(tb testing.TB, s *redistest.Server) *Conn {
	tb.Helper()
	return patient(tb, s.URL())
}

// patient makes a connection for which a machine that stands still for some
// seconds is no outage.
func patient(tb testing.TB, url string) *Conn {
	tb.Helper()
	c, err := ParseURL(url)
	if err != nil {
		tb.Fatal(err)
	}
	c.CallTimeout, c.option.ConnWriteTimeout, c.option.Dialer.Timeout = rawtest.Patience, rawtest.Patience, rawtest.Patience
	tb.Cleanup(c.Close)
	return c
}

func client(k int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(k >> 16), byte(k >> 8), byte(k)}), 32)
}
