package parts

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program. Servers lie in /usr/sbin, which is not
// on everybody's path.
func Program(t testing.TB, name string) string {
	t.Helper()
	for _, candidate := range []string{name, "/usr/sbin/" + name} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	Missing(t, name)
	return ""
}

// Missing ends a test for want of a part.
func Missing(t testing.TB, part string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed: .ci/deps should have seen to it", part)
	}
	t.Skipf("%s is not installed", part)
}
