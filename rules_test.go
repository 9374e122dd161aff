package concert

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/andreimerlescu/concert"

// layers are the units of the tree from the bottom up. A unit is a folder with
// everything below it, and imports only units of lower layers. "stages/*" makes
// each stage a unit of its own, so stages never know each other.
var layers = [][]string{
	{"internal"},
	{"certs", "clientip", "cookies", "handover", "hosts", "ipinfo", "line", "paths", "signed", "slots"},
	{"abuse", "fleet", "listener", "persist", "pipeline", "rooms"},
	{"h3", "history", "metrics", "stages/*", "upstream"},
	{"config", "gate"},
	{"portal"},
	{"app"},
	{"demo"},
	{"cmd/concert"},
}

// suites may import anything, and only suites may import them.
var suites = []string{"bench", "blackbox", "examples", "fuzz"}

// unitOf returns the unit of a package path and its layer; suites are above all.
func unitOf(path string) (unit string, layer int, ok bool) {
	path = strings.TrimPrefix(path, module+"/")
	below := func(folder string) bool { return path == folder || strings.HasPrefix(path, folder+"/") }
	for layer, units := range layers {
		for _, unit := range units {
			if folder, each := strings.CutSuffix(unit, "/*"); each && below(folder) {
				parts := strings.SplitN(strings.TrimPrefix(path, folder+"/"), "/", 2)
				return folder + "/" + parts[0], layer, true
			}
			if below(unit) {
				return unit, layer, true
			}
		}
	}
	return "suites", len(layers), slices.ContainsFunc(suites, below)
}

// goList runs go list for every package of the module.
func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list"}, append(args, "./...")...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return out
}

func TestImportsGoDownwards(t *testing.T) {
	dec := json.NewDecoder(strings.NewReader(string(goList(t, "-json=ImportPath,Imports"))))
	seen := 0
	for dec.More() {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == module {
			continue
		}
		seen++
		unit, layer, ok := unitOf(p.ImportPath)
		if !ok {
			t.Errorf("%s is in no layer: give it a place in the table", p.ImportPath)
		}
		for _, imported := range p.Imports {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			if u, l, _ := unitOf(imported); u != unit && l >= layer {
				t.Errorf("%s must not import %s", p.ImportPath, imported)
			}
		}
	}
	if seen == 0 {
		t.Error("go list named no package")
	}
}

func TestNoWebFramework(t *testing.T) {
	deps := string(goList(t, "-deps"))
	for _, framework := range []string{
		"gin-gonic", "labstack/echo", "gofiber", "go-chi", "gorilla/mux", "httprouter", "fasthttp",
	} {
		if strings.Contains(deps, framework) {
			t.Errorf("%s is linked; Concert is net/http only", framework)
		}
	}
	if !strings.Contains(deps, "net/http\n") {
		t.Error("go list -deps does not name net/http: this test sees nothing")
	}
}

func TestSizes(t *testing.T) {
	const fileLines, functionLines = 500, 80
	for _, f := range sources(t) {
		if n := f.set.File(f.syntax.Pos()).LineCount(); n > fileLines {
			t.Errorf("%s has %d lines, at most %d", f.path, n, fileLines)
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > functionLines {
				t.Errorf("%s: %s has %d lines, at most %d", f.at(fn), fn.Name.Name, n, functionLines)
			}
		}
	}
}

// TestSelectors bans names of other packages from where they do not belong.
func TestSelectors(t *testing.T) {
	rules := []struct {
		names   []string
		allowed []string // folders
		tests   bool     // in tests too
		why     string
	}{
		{[]string{"os.Getenv", "os.LookupEnv", "os.Environ"}, []string{"cmd", "blackbox", "examples", "internal/parts"}, false, "settings come from package config"},
		{[]string{"http.Error"}, []string{"pipeline"}, false, "only the pipeline renders refusals"},
		{[]string{"context.TODO"}, nil, false, "pass a context"},
		{[]string{"testing.AllocsPerRun"}, []string{"internal/allocs"}, true, "the race detector and neighbours disturb it: allocs.PerRun"},
	}
	for _, f := range sources(t) {
		for _, rule := range rules {
			if f.test && !rule.tests || f.isIn(rule.allowed...) {
				continue
			}
			for _, at := range f.uses(rule.names...) {
				t.Errorf("%s: %s", at, rule.why)
			}
		}
	}
}

func TestFlagsAreReadInOnePlace(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.isIn("config", "cmd", "demo", "bench/cmd", "bench/command") {
			continue
		}
		for _, imp := range f.syntax.Imports {
			if path, _ := strconv.Unquote(imp.Path.Value); path == "flag" {
				t.Errorf("%s: only config, and commands of their own, read flags", f.at(imp))
			}
		}
	}
}

// TestNoSleepingTests: a sleep outside a bubble of synctest is a race in
// waiting, and makes the suite slow.
func TestNoSleepingTests(t *testing.T) {
	all := sources(t)
	for _, f := range all {
		if !f.test {
			continue
		}
		bubbles := bubblesOf(all, f.folder)
		for _, d := range f.syntax.Decls {
			// Helpers of a package that has bubbles are called inside them.
			if fn, ok := d.(*ast.FuncDecl); ok && len(bubbles) > 1 && !isTest(fn) {
				continue
			}
			for _, pos := range sleepsOutside(bubbles, d) {
				t.Errorf("%s: time.Sleep outside a bubble of synctest", f.at(pos))
			}
		}
	}
}

func TestNoInitFunctions(t *testing.T) {
	for _, f := range sources(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: no init functions: wire things where they are built", f.at(fn))
			}
		}
	}
}

func TestEveryMutexSaysWhatItGuards(t *testing.T) {
	for _, f := range sources(t) {
		for _, field := range undocumentedMutexes(f.syntax) {
			t.Errorf("%s: a comment must say what the mutex guards", f.at(field))
		}
	}
}

func TestNoLooseEnds(t *testing.T) {
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	for _, f := range sources(t) {
		for _, group := range f.syntax.Comments {
			for _, mark := range marks {
				if strings.Contains(group.Text(), mark) {
					t.Errorf("%s: %s left in a comment", f.at(group), mark)
				}
			}
		}
	}
}

// TestRulesSeeViolations shows the rules a file that breaks them.
func TestRulesSeeViolations(t *testing.T) {
	f, err := parse("bad_test.go", `package bad
import ("net/http"; "os"; "sync"; "time"; "testing"; "testing/synctest")
type Exported struct { mu sync.Mutex }
func (Exported) Method() {}
type ok struct { mu sync.RWMutex } // guards nothing, being outside the field
func bubble(t *testing.T, f func(*testing.T)) { synctest.Test(t, f) }
func TestX(t *testing.T) {
	time.Sleep(1)
	synctest.Test(t, func(t *testing.T) { time.Sleep(2) })
	bubble(t, func(t *testing.T) { time.Sleep(3) })
	http.Error(nil, os.Getenv("x"), 1)
}
const Value = 1
// Documented is.
var Documented int
func start() { go bubble(nil, nil) }
`)
	if err != nil {
		t.Fatal(err)
	}
	if loose := f.loose(new(int)); len(loose) != 1 {
		t.Errorf("goroutines that do not say when they end: %v, want one", loose)
	}
	got := fmt.Sprint(len(undocumented(f.syntax)), len(undocumentedMutexes(f.syntax)),
		len(f.uses("http.Error", "os.Getenv")), len(sleepsOutside(bubblesOf([]source{f}, "."), f.syntax)))
	if want := "4 2 2 1"; got != want { // Exported, Method, TestX and Value lack a comment
		t.Errorf("undocumented, mutexes, selectors, sleeps: %s, want %s", got, want)
	}
	for path, want := range map[string]string{
		"line/memory": "line 1", "stages/queue/page": "stages/queue 3", "bench/cmd/drain": "suites 9", "app": "app 6",
	} {
		unit, layer, ok := unitOf(module + "/" + path)
		if got := fmt.Sprint(unit, " ", layer); got != want || !ok {
			t.Errorf("unitOf(%s) = %s, want %s", path, got, want)
		}
	}
	if _, _, ok := unitOf(module + "/new"); ok {
		t.Error("a folder that is not in the table has a unit")
	}
}

// TestNothingIsLarge: what is built does not belong into the repository.
func TestNothingIsLarge(t *testing.T) {
	const most = 1 << 20
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("not a repository")
	}
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("list the files: %v", err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(path); err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes, more than any source needs", path, info.Size())
		}
	}
}
