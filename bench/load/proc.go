package load

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Listener finds the process that listens on an IPv4 address of this machine.
func Listener(addr string) (pid int, err error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return 0, fmt.Errorf("find the listener: %w", err)
	}
	inode, err := socketOf(at)
	if err != nil {
		return 0, err
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == "socket:["+inode+"]" {
			return strconv.Atoi(strings.Split(link, "/")[2])
		}
	}
	return 0, fmt.Errorf("no process listens on %s", addr)
}

// socketOf returns the inode of a listening socket.
func socketOf(at netip.AddrPort) (string, error) {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", fmt.Errorf("find the listener: %w", err)
	}
	defer func() { _ = f.Close() }()
	ip := at.Addr().As4()
	local := fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(ip[:]), at.Port())
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		const listening = "0A"
		if len(fields) > 9 && fields[1] == local && fields[3] == listening {
			return fields[9], nil
		}
	}
	return "", fmt.Errorf("nothing listens on %s", at)
}
