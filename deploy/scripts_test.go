package deploy

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestShellScripts has shellcheck read every script of the repository. Some run
// as root on others' machines.
func TestShellScripts(t *testing.T) {
	t.Parallel()
	shellcheck := program(t, "shellcheck")
	scripts := shellScripts(t)
	for _, want := range []string{"installer.sh", "package/postinst", "../.ci/run"} {
		if !slices.Contains(scripts, want) {
			t.Errorf("%s is not among the scripts: %q", want, scripts)
		}
	}
	if out, err := exec.CommandContext(t.Context(), shellcheck, scripts...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// shellScripts are the files that say a shell is to run them.
func shellScripts(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, d.Name()) {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() && isShellScript(path) {
			if here, err := filepath.Rel("../deploy", path); err == nil {
				path = here
			}
			paths = append(paths, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

var shebang = regexp.MustCompile(`^#!.*\b(ba|da)?sh\b`)

func isShellScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head, _ := bufio.NewReaderSize(f, 64).Peek(64) // what is shorter ends in an error
	return shebang.Match(head)
}
