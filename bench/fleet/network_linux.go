package fleet

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

const (
	originHost    = 1   // where the instances find the origin, on this side of every cable
	redisHost     = 2   // and Redis
	instanceHosts = 10  // the first instance, for visitors and the origin
	farHosts      = 100 // the same one, for Redis
)

// cables is a network of namespaces: each instance has one of its own, with two
// cables (veth pairs) to this one. Visitors and the origin are on the first and
// Redis is on the second, which is pulled out to cut the instance off. The
// kernel takes all of it away when the processes that hold the namespaces end,
// which they do when this one does, however that is.
type cables struct {
	net     int // which of the 256 networks of the range
	server  *redistest.Server
	holders []int    // processes that hold the namespaces of the instances
	scripts []string // that run Concert in them
}

// laid tells networks of one process apart: the kernel takes its time to take one
// away.
var laid atomic.Int32

// newCables makes a network. The error says why that is not possible here: it
// takes root, and a kernel and a sandbox that allow it.
func newCables(tb testing.TB, binary string, instances int) (network, error) {
	tb.Helper()
	if os.Getuid() != 0 {
		return nil, errors.New("only root makes network namespaces")
	}
	for _, program := range []string{"ip", "unshare", "nsenter"} {
		parts.Program(tb, program)
	}
	n := &cables{net: (os.Getpid() + int(laid.Add(101))) & 255}
	for k := range instances {
		if err := n.lay(tb, binary, k); err != nil {
			return nil, err
		}
	}
	if err := n.reachable(instances); err != nil {
		return nil, err
	}
	n.server = redistest.Start(tb, "--bind", "127.0.0.1", address(n.net, redisHost))
	return n, nil
}

// lay makes the namespace of an instance, and its cables.
func (n *cables) lay(tb testing.TB, binary string, k int) error {
	tb.Helper()
	holder, err := hold(tb)
	if err != nil {
		return fmt.Errorf("make a network namespace: %w", err)
	}
	n.holders = append(n.holders, holder)
	script := filepath.Join(tb.TempDir(), "concert")
	text := fmt.Sprintf("#!/bin/sh\nexec nsenter --net=/proc/%d/ns/net '%s' \"$@\"\n", holder, binary)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		return fmt.Errorf("write how to run an instance: %w", err)
	}
	n.scripts = append(n.scripts, script)
	for _, c := range []struct {
		name     string
		near     int
		far      int
		instance string
	}{
		{n.cable("o", k), originHost, instanceHosts + k, "origin"},
		{n.cable("r", k), redisHost, farHosts + k, "redis"},
	} {
		near, far := address(n.net, c.near), address(n.net, c.far)
		err = errors.Join(err,
			ip("link add", c.name, "type veth peer name", c.instance, "netns", strconv.Itoa(holder)),
			ip("addr add", near, "peer", far, "dev", c.name),
			ip("link set", c.name, "up"),
			n.inside(k, "ip", "addr", "add", far, "peer", near, "dev", c.instance),
			n.inside(k, "ip", "link", "set", c.instance, "up"))
	}
	return errors.Join(err, n.inside(k, "ip", "link", "set", "lo", "up"))
}

// cable is the name of this end of a cable; the kernel allows 15 bytes.
func (n *cables) cable(which string, k int) string {
	return fmt.Sprintf("cc%s%d-%d", which, k, n.net)
}

// hold starts a process that has a network namespace, and ends with the test:
// when the pipe to it closes.
func hold(tb testing.TB) (pid int, err error) {
	tb.Helper()
	c := exec.Command("unshare", "--net", "sh", "-c", "echo there && exec cat")
	in, err := c.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	tb.Cleanup(func() {
		in.Close()
		_ = c.Wait() // a namespace that could not be made was told of before
	})
	if _, err := io.ReadFull(out, make([]byte, len("there\n"))); err != nil {
		return 0, errors.New("unshare --net is not permitted")
	}
	return c.Process.Pid, nil
}

// ip runs the program with the words of all arguments.
func ip(args ...string) error { return run("ip", strings.Fields(strings.Join(args, " "))...) }

// inside runs a program in the namespace of an instance.
func (n *cables) inside(k int, words ...string) error {
	return run("nsenter", append([]string{fmt.Sprintf("--net=/proc/%d/ns/net", n.holders[k])}, words...)...)
}

func run(program string, args ...string) error {
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, out)
	}
	return nil
}

// reachable reports whether packets get through: a firewall may be in the way.
func (n *cables) reachable(instances int) error {
	for _, host := range []int{originHost, redisHost} {
		ln, err := net.Listen("tcp", net.JoinHostPort(address(n.net, host), "0"))
		if err != nil {
			return err
		}
		defer ln.Close()
		probe := fmt.Sprintf("exec 3<>/dev/tcp/%s/%d", address(n.net, host), ln.Addr().(*net.TCPAddr).Port)
		for k := range instances {
			if err := n.inside(k, "timeout", "5", "bash", "-c", probe); err != nil {
				return fmt.Errorf("no packet gets through: %w", err)
			}
		}
	}
	return nil
}

func (n *cables) home() string             { return address(n.net, originHost) }
func (n *cables) redis() *redistest.Server { return n.server }
func (n *cables) String() string           { return "network namespaces" }

func (n *cables) join(k int) (binary string, args, env []string) {
	_, port, _ := net.SplitHostPort(n.server.Addr)
	return n.scripts[k],
		[]string{"-listen", net.JoinHostPort(address(n.net, instanceHosts+k), "0"), "-trusted-proxies", n.home() + "/32"},
		[]string{"CONCERT_REDIS_URL=redis://" + net.JoinHostPort(address(n.net, redisHost), port)}
}

// cut pulls the cable to Redis: packets are lost on both ways, and nobody is
// told.
func (n *cables) cut(k int) error { return ip("link set", n.cable("r", k), "down") }

func (n *cables) mend(k int) error { return ip("link set", n.cable("r", k), "up") }

// address is one of the network's own, of the range for benchmarks (RFC 2544).
func address(net, host int) string { return fmt.Sprintf("198.19.%d.%d", net, host) }
