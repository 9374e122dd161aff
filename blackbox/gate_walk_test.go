package blackbox

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

// TestWalk takes the walk through an off-site room that deploy/compose offers,
// on processes.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"curl", "nginx", "redis-server"} {
		parts.Program(t, program)
	}
	cmd := exec.CommandContext(t.Context(), "../deploy/compose/demo.sh")
	cmd.Env = append(os.Environ(), "CONCERT="+binary)
	for _, name := range []string{"EDGE_PORT", "ADMIN_PORT", "TARGET_PORT", "GATE_PORT", "SECOND_PORT", "REDIS_PORT"} {
		cmd.Env = append(cmd.Env, name+"="+strconv.Itoa(parts.Port(t)))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"302 to http://localhost:", "ticket 3", "position 2", "admitted\n", "303 to http://localhost:", "You waited with ticket 3",
		"the same token again: 302", "\n401\n", `"passed_total":1`, "== done"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the walk lacks %q:\n%s", want, out)
		}
	}
}
