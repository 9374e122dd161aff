package parts

import (
	"net"
	"strconv"
	"testing"

	"github.com/andreimerlescu/concert/internal/ports"
)

// Address returns 127.0.0.1 with a Port, as host:port.
func Address(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(Port(t)))
}

// Port returns a port of 127.0.0.1 where nobody listens, over TCP or UDP, and
// which nobody else is given until the test ends: for programs that cannot be
// handed a socket, and for places where nobody is to answer. Ask for it before
// the clean-up that ends the program is registered.
func Port(t testing.TB) int {
	t.Helper()
	port, release, err := ports.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return port
}
