package redistest

import (
	"os/exec"
	"syscall"
)

// endWithParent has the kernel end the server if the test is killed.
func endWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
