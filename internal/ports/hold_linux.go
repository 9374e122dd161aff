package ports

import (
	"fmt"
	"io"
	"net"
)

// hold keeps other processes from reserving the port. An abstract socket
// belongs to the same network as the ports do, leaves no file behind, and goes
// with its process; children do not inherit it.
func hold(port int) (io.Closer, error) {
	return net.Listen("unix", fmt.Sprintf("@concert-port-%d", port))
}
