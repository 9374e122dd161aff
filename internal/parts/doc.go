// Package parts finds what tests need from the machine: the real programs that
// they drive, addresses for these, and a disk to fill. What is missing skips the
// test, and fails it under CI=true, where .ci/deps should have seen to it.
//
//	cmd := exec.Command(parts.Program(t, "redis-server"), "--port", strconv.Itoa(parts.Port(t)))
package parts
