package tables

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// suite is one benchmark that the table of parts shows.
type suite struct {
	what    string // the part, for people
	folder  string
	pattern string // of -bench
}

// suites cover the parts that a visit meets.
var suites = []suite{
	{"all guards", "bench", "^BenchmarkGuards$"},
	{"client address", "clientip", "^Benchmark(Resolve|Forwarded)$"},
	{"path decision", "paths", "^Benchmark(Canonical|Classify|Lookup)$"},
	{"ban look-up, 77,778 clients", "abuse", "^BenchmarkLookup$"},
	{"pass", "stages/pass", "^Benchmark(Enter|Issue)$"},
	{"slots", "slots", "^BenchmarkGate"},
	{"the line's engine", "line/memory", "^Benchmark(EnterRelease|Join|Poll)$"},
	{"the line's memory", "line/memory", "^BenchmarkMemory$"},
	{"status poll, without the server", "stages/queue", "^BenchmarkPoll100k$"},
	{"waiting page, without the server", "stages/queue", "^Benchmark(Page|Admit)$"},
	{"history", "history", "^BenchmarkObserve$"},
	{"whose address it is", "ipinfo", "^BenchmarkLookup$"},
	{"proxying, without the server", "upstream", "^BenchmarkProxy$"},
}

// runs of each benchmark, of which the fastest counts: what else a machine does
// only ever adds.
const runs = 5

// benchmarks runs the suites, each for the time given, and returns a table in
// Markdown. It must be called inside the module.
func benchmarks(ctx context.Context, benchtime string) (string, error) {
	var b strings.Builder
	b.WriteString("| part | benchmark | ns | bytes | allocations | other |\n|---|---|---|---|---|---|\n")
	for _, s := range suites {
		out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", s.pattern, "-benchmem", "-benchtime", benchtime,
			"-count", strconv.Itoa(runs), "github.com/andreimerlescu/concert/"+s.folder).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("benchmarks of %s: %w\n%s", s.folder, err, out)
		}
		rows := fastest(string(out))
		if len(rows) == 0 {
			return "", fmt.Errorf("benchmarks of %s: none is called %s", s.folder, s.pattern)
		}
		for _, r := range rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", s.what, r.name, number(r.figures["ns/op"]),
				number(r.figures["B/op"]), number(r.figures["allocs/op"]), r.others())
		}
	}
	return b.String(), nil
}

// row is one benchmark's figures by unit.
type row struct {
	name    string
	figures map[string]float64
	units   []string // in the order of the output
}

// others are the figures that have no column of their own.
func (r *row) others() string {
	var texts []string
	for _, unit := range r.units {
		switch unit {
		case "ns/op", "B/op", "allocs/op":
		default:
			texts = append(texts, number(r.figures[unit])+" "+unit)
		}
	}
	return strings.Join(texts, ", ")
}

// fastest reads what go test prints of benchmarks (the format is Go's
// benchmark data format, https://go.dev/design/14313-benchmark-format) and keeps
// the least of each figure.
func fastest(out string) []*row {
	var rows []*row
	byName := map[string]*row{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i] // the number of processors
		}
		r := byName[name]
		if r == nil {
			r = &row{name: name, figures: map[string]float64{}}
			byName[name], rows = r, append(rows, r)
		}
		for i := 2; i+1 < len(fields); i += 2 {
			r.note(fields[i], fields[i+1])
		}
	}
	return rows
}

func (r *row) note(value, unit string) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return
	}
	have, known := r.figures[unit]
	if !known {
		r.units = append(r.units, unit)
	}
	if !known || v < have {
		r.figures[unit] = v
	}
}

// number renders a figure with three digits that count.
func number(v float64) string {
	if v >= 100 || v == float64(int64(v)) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
