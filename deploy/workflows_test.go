package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// workflow is what matters of a file in .github/workflows.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Steps       []struct {
			Uses, Run string
			With      map[string]any
		}
	}
}

// TestWorkflows: they run what anybody can run, actions are pinned by their
// commits, and nothing that runs code of the repository may write.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows: %q, %v", files, err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if w.Permissions == nil || w.Permissions["contents"] == "write" {
			t.Errorf("%s: permissions are %v for every job", file, w.Permissions)
		}
		for name, job := range w.Jobs {
			for _, step := range job.Steps {
				target, isMake := strings.CutPrefix(step.Run, "make ")
				switch {
				case step.Uses != "":
					if !pinned.MatchString(step.Uses) {
						t.Errorf("%s: %s uses %s, which is not pinned", file, name, step.Uses)
					}
					if strings.HasPrefix(step.Uses, "actions/checkout@") && (step.With["persist-credentials"] != false || job.Permissions["contents"] == "write") {
						t.Errorf("%s: %s has the code and the right to write", file, name)
					}
				case isMake && !strings.Contains(string(makefile), "\n"+target+": "):
					t.Errorf("%s: there is no make %s", file, target)
				case !isMake && step.Run != "bash .ci/run" && !strings.HasPrefix(step.Run, "gh release create "):
					t.Errorf("%s: %s runs %s, which nobody can run elsewhere", file, name, step.Run)
				}
			}
		}
	}
}
