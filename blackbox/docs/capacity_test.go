package docs

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCapacity works the examples of docs/performance.md out anew, and compares
// what they count with to what was measured: a factor of two is what machines
// differ by.
func TestCapacity(t *testing.T) {
	text := read(t, "docs/performance.md")
	_, section, _ := strings.Cut(text, "\n## How large a machine?\n")
	section, _, _ = strings.Cut(section, "\n## ")
	perPage := costs(t, section, "page, asset")
	perPoll, perNewcomer := costs(t, section, "poll"), costs(t, section, "newcomer")
	memory := costs(t, section, "memory")
	for _, example := range []int{2, 3} {
		of := func(row string) float64 { return number(t, cell(t, section, row, example)) }
		pages := of("cap") / of("t, seconds a page")
		polls := 500 + 9*pages + of("in line, at the most")/90 + of("arrivals a second")
		forPages := pages * (1 + of("assets a page")) * perPage[0] / 1e6
		forPolls, forNewcomers := polls*perPoll[1]/1e6, of("arrivals a second")*perNewcomer[1]/1e6
		for row, want := range map[string]float64{
			"pages a second":                               pages,
			"wait of the last in line, seconds":            of("in line, at the most") / pages,
			"polls a second":                               polls,
			"processors for pages and assets":              forPages,
			"processors for polls, on new connections":     forPolls,
			"processors for newcomers, on new connections": forNewcomers,
			"processors":                                   forPages + forPolls + forNewcomers,
			"memory, MiB":                                  memory[0] + (of("in line, at the most")*memory[1]+of("open connections")*memory[2])/1024,
		} {
			rounding := 0.006 // small figures have two places behind the point
			if want >= 10 {
				rounding = 0.51
			}
			if got := of(row); math.Abs(got-want) > rounding {
				t.Errorf("%s: %v, and by the formula %v", row, got, want)
			}
		}
	}
	for what, pair := range map[string][2]float64{
		"a page":     {perPage[0], number(t, cell(t, text, "Concert", 1))},
		"a poll":     {perPoll[0], number(t, cell(t, text, "status poll", 3))},
		"a newcomer": {perNewcomer[0], number(t, cell(t, text, "waiting page", 3))},
	} {
		if counted, measured := pair[0], pair[1]; counted < measured/2 || counted > 2*measured {
			t.Errorf("%s is counted with %v µs, and measured %v", what, counted, measured)
		}
	}
}

// cell returns a cell of the first row that begins with a name; 0 is the name.
func cell(t *testing.T, text, name string, column int) string {
	t.Helper()
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if strings.TrimSpace(cells[0]) == name && column < len(cells) {
			return strings.TrimSpace(cells[column])
		}
	}
	t.Fatalf("docs/performance.md has no row %q with a column %d", name, column)
	return ""
}

// costs are the numbers in the row of the costs that begins so.
func costs(t *testing.T, section, name string) (all []float64) {
	t.Helper()
	for line := range strings.Lines(section) {
		if rest, ok := strings.CutPrefix(line, "| "+name); ok {
			for _, m := range regexp.MustCompile(`([0-9.]+) (?:µs|MiB|KiB)`).FindAllStringSubmatch(rest, -1) {
				all = append(all, number(t, m[1]))
			}
			return all
		}
	}
	t.Fatalf("docs/performance.md does not say what %s costs", name)
	return nil
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
