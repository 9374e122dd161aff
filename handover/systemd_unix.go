//go:build unix

package handover

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

// firstSocket is the first descriptor that systemd passes (sd_listen_fds(3)).
const firstSocket = 3

// fromSystemd takes the sockets of a socket unit, if they are meant for this
// process.
func (p *Process) fromSystemd(env map[string]string) error {
	if env["LISTEN_PID"] != strconv.Itoa(os.Getpid()) {
		return nil
	}
	n, err := strconv.ParseUint(env["LISTEN_FDS"], 10, 16)
	if err != nil {
		return fmt.Errorf("LISTEN_FDS %q is not a number", env["LISTEN_FDS"])
	}
	for fd := range int(n) {
		ln, err := listenerOf(firstSocket + fd)
		if err != nil {
			return err
		}
		p.inherited = append(p.inherited, inherited{ln: ln})
	}
	return nil
}

// tell sends systemd a notification (sd_notify(3)), if it wants any.
func (p *Process) tell(text string) error {
	if p.notify == "" {
		return nil
	}
	c, err := net.Dial("unixgram", p.notify) // a leading @ is handled there
	if err != nil {
		return fmt.Errorf("handover: tell systemd: %w", err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(text)); err != nil {
		return fmt.Errorf("handover: tell systemd: %w", err)
	}
	return nil
}
