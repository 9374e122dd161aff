package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestCompose reads the compose file as docker compose does, with secrets that
// concert keys made.
func TestCompose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), build(t), "keys", "secrets", filepath.Join(dir, "secrets")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"compose.yaml", "edge.conf"} {
		text, err := os.ReadFile(filepath.Join("compose", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o, err := cli.NewProjectOptions([]string{filepath.Join(dir, "compose.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := func(service, name string) string {
		if v := p.Services[service].Environment[name]; v != nil {
			return *v
		}
		return ""
	}
	if len(env("concert-1", "CONCERT_ADMIN_TOKEN")) != 64 || env("concert-1", "CONCERT_REDIS_URL") != env("concert-2", "CONCERT_REDIS_URL") || len(env("target-demo", "SESSION_KEY")) != 64 || env("target-demo", "WAITING_ROOM_URL") != "http://localhost:8088" {
		t.Error("the services do not get their secrets")
	}
	for name, s := range p.Services {
		if name == "redis" && (len(s.Ports) > 0 || s.HealthCheck == nil) {
			t.Error("redis is open, or its health is not looked after")
		}
		for _, port := range s.Ports {
			if open := name == "edge"; open != (port.HostIP == "") {
				t.Errorf("%s publishes %s on %q", name, port.Published, port.HostIP)
			}
		}
		for dependency := range s.DependsOn {
			if _, ok := p.Services[dependency]; !ok {
				t.Errorf("%s depends on %s", name, dependency)
			}
		}
		if s.Image == "concert" && (!s.ReadOnly || !slices.Contains(s.CapDrop, "ALL")) {
			t.Errorf("%s is not confined", name)
		}
	}
	if b := p.Services["concert-2"].Build; b == nil || !exists(filepath.Join("compose", "..", "..", b.Dockerfile)) {
		t.Errorf("built from %+v", b)
	}
	if f := p.Secrets["signing_keys"].File; !exists(f) || !slices.ContainsFunc(p.Services["concert-2"].Secrets, func(s types.ServiceSecretConfig) bool { return s.Source == "signing_keys" }) {
		t.Errorf("the keys are in %q", f)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
