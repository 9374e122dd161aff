package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

// checker has a language's own program read a piece of it without running it.
type checker struct {
	program  string
	required bool // by .ci/deps; the others are used where they are installed
	file     string
	args     []string
	around   func(text string) string // what makes a piece a whole file
}

func asIs(text string) string { return text }

// inPHP puts a method into a class.
func inPHP(text string) string {
	if strings.HasPrefix(text, "public function") {
		text = "class Middleware {\n" + text + "}\n"
	}
	if strings.HasPrefix(text, "<?php") {
		return text
	}
	return "<?php\n" + text
}

// inNginx puts what belongs into the http section there.
func inNginx(text string) string {
	return "pid pid; error_log stderr; events {} http { access_log off;\n" +
		"client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;\n" + text + "}\n"
}

var checkers = map[string]checker{
	"php":    {"php", true, "piece.php", []string{"-l"}, inPHP},
	"js":     {"node", true, "piece.js", []string{"--check"}, asIs},
	"python": {"python3", false, "piece.py", []string{"-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"}, asIs},
	"nginx":  {"nginx", true, "piece.conf", []string{"-t", "-q", "-p", "./", "-e", "stderr", "-c"}, inNginx},
	"ruby":   {"ruby", false, "piece.rb", []string{"-c"}, asIs},
}

// TestPiecesOfPrograms: what is to be copied into a site at least has no
// mistake of spelling that its language would notice.
func TestPiecesOfPrograms(t *testing.T) {
	for _, p := range readPages(t) {
		for _, b := range p.Blocks {
			c, ok := checkers[b.Language]
			if !ok || strings.Contains(b.Text, "ssl_certificate ") { // package blackbox runs the one with a certificate
				continue
			}
			t.Run(b.At(), func(t *testing.T) {
				t.Parallel()
				path, err := exec.LookPath(c.program)
				if err != nil && !c.required {
					t.Skipf("%s is not installed", c.program)
				}
				if c.required {
					path = parts.Program(t, c.program)
				}
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.around(b.Text)), 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(t.Context(), path, append(slices.Clone(c.args), c.file)...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s\n%s", err, b.Text, out)
				}
			})
		}
	}
}
