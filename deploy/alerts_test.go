package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// alertFile is the part of a Prometheus rule file that the tests read.
type alertFile struct {
	Groups []struct {
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// anchors are the sections of a page, as links name them.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(page) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			found[strings.ToLower(strings.TrimSpace(title))] = true
		}
	}
	return found
}

var (
	flagName   = regexp.MustCompile("`-([a-z][a-z0-9-]*)")
	reasonText = regexp.MustCompile(`reason=~?"([^"]*)"`)
)

// TestAlerts: rules are about metrics and reasons that exist, and each of them
// has its section in the runbook, which has no others.
func TestAlerts(t *testing.T) {
	var file alertFile
	if err := yaml.Unmarshal([]byte(text(t, "prometheus/alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	refusals := text(t, "../docs/refusals.md")
	sections := anchors(text(t, "../docs/runbook.md"))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if len(checkQuery(t, r.Alert, r.Expr)) == 0 {
				t.Errorf("%s is about no metric: %s", r.Alert, r.Expr)
			}
			for _, m := range reasonText.FindAllStringSubmatch(r.Expr, -1) {
				for reason := range strings.SplitSeq(m[1], "|") {
					if !strings.Contains(refusals, "`"+reason+"`") {
						t.Errorf("%s: docs/refusals.md has no %q", r.Alert, reason)
					}
				}
			}
			section := strings.ToLower(r.Alert)
			if want := "docs/runbook.md#" + section; r.Annotations["runbook"] != want || !sections[section] {
				t.Errorf("%s points to %q; want %s, and that section there", r.Alert, r.Annotations["runbook"], want)
			}
			delete(sections, section)
			if s := r.Labels["severity"]; (s != "page" && s != "ticket") || r.Annotations["summary"] == "" {
				t.Errorf("%s: severity %q, summary %q", r.Alert, s, r.Annotations["summary"])
			}
		}
	}
	if len(sections) > 0 {
		t.Errorf("docs/runbook.md has sections of no alert, or of one that is there twice: %v", sections)
	}
}

// TestGuidesNameFlagsThatExist: nobody looks for a setting in vain at night.
func TestGuidesNameFlagsThatExist(t *testing.T) {
	settings := text(t, "../docs/configuration.md")
	pages := []string{"../SECURITY.md", "../docs/runbook.md", "../docs/operations.md", "../docs/upgrading.md", "../docs/threat-model.md"}
	guides, err := filepath.Glob("../docs/guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("%d guides, %v", len(guides), err)
	}
	for _, page := range append(pages, guides...) {
		for _, m := range flagName.FindAllStringSubmatch(text(t, page), -1) {
			if !strings.Contains(settings, "| `-"+m[1]+"` |") {
				t.Errorf("%s: there is no -%s", page, m[1])
			}
		}
	}
}

// TestAlertsByPromtool has Prometheus's own tool read the rules and try them,
// where it is installed: Debian has it only together with the whole server.
func TestAlertsByPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = "prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
