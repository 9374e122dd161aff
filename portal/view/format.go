package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// number writes a whole number with separators between thousands.
func number(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, text = "−", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// whole takes the kinds of integers that rows have.
func whole(n any) int {
	switch n := n.(type) {
	case int:
		return n
	case int64:
		return int(n)
	case uint64:
		return int(min(n, 1<<62))
	}
	panic(fmt.Sprintf("BUG: a number of type %T", n))
}

// span writes a length of time in its two largest units: 3d 4h, 5m 07s, 12s.
func span(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s >= 86400:
		return fmt.Sprintf("%dd %dh", s/86400, s%86400/3600)
	case s >= 3600:
		return fmt.Sprintf("%dh %02dm", s/3600, s%3600/60)
	case s >= 60:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	}
	return fmt.Sprintf("%ds", s)
}

// latency writes microseconds.
func latency(us int64) string {
	switch {
	case us < 1000:
		return strconv.FormatInt(us, 10) + " µs"
	case us < 1_000_000:
		return strconv.FormatInt(us/1000, 10) + " ms"
	}
	return strconv.FormatFloat(float64(us)/1e6, 'f', 1, 64) + " s"
}

// milliseconds writes a time measured in milliseconds; -1 was not measured.
func milliseconds(ms float64) string {
	switch {
	case ms < 0:
		return "–"
	case ms < 10_000:
		return number(int(ms+0.5)) + " ms"
	}
	return span(time.Duration(ms * float64(time.Millisecond)))
}

// rate writes something per second.
func rate(r float64) string {
	if r > 0 && r < 10 {
		return strconv.FormatFloat(r, 'f', 1, 64)
	}
	return number(int(r + 0.5))
}

// browser names the browser or program behind a user agent, for a column; the
// whole text stands in a tooltip.
func browser(agent string) string {
	for _, b := range [...]struct{ mark, name string }{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
		{"HeadlessChrome/", "Headless Chrome"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Version/", "Safari"},
	} {
		if _, rest, found := strings.Cut(agent, b.mark); found && strings.HasPrefix(agent, "Mozilla/") {
			version, _, _ := strings.Cut(rest, ".")
			if n, err := strconv.Atoi(version); err == nil {
				return b.name + " " + strconv.Itoa(n)
			}
			return b.name
		}
	}
	if agent == "" {
		return "none given"
	}
	return agent
}
