package load

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// process is a program that was started for the run.
type process struct {
	cmd  *exec.Cmd
	addr string
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails when it has ended by itself
	_ = p.cmd.Wait()
}

// startSelf starts the program self in a role and waits for its address.
func startSelf(ctx context.Context, self, role string, size int, upstream string) (*process, error) {
	cmd := exec.CommandContext(ctx, self, "-role", role, "-size", strconv.Itoa(size), "-upstream", upstream)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", role, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", role, err)
	}
	p := &process{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.kill()
		return nil, fmt.Errorf("address of the %s: %w", role, err)
	}
	p.addr = strings.TrimSpace(line)
	return p, nil
}
