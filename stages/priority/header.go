package priority

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// Header is the response header field by which the origin ranks a visitor.
const Header = "Concert-Priority"

// Bounds of a grant's life. What the header asks for is brought within them.
const (
	minTTL = time.Minute
	MaxTTL = 24 * time.Hour
)

// parseHeader reads a value of Concert-Priority:
//
//	rank [; ttl = seconds or duration] [; other = parameters, ignored]
//
// Ranks and parameter names are read in any case. A duration is written as Go
// writes it: 90s, 1h30m. Without a ttl the rank's own applies: 30m for prospect
// and checkout, 8h for the others. Of several values joined by commas, as a
// cache may join header lines, the last counts. A guest's ttl means nothing and
// is not looked at. ok is false for an unknown rank and for a ttl that is no
// time.
func parseHeader(value string) (rank pipeline.Rank, ttl time.Duration, ok bool) {
	if i := strings.LastIndexByte(value, ','); i >= 0 {
		value = value[i+1:]
	}
	name, params, _ := strings.Cut(value, ";")
	rank, ok = pipeline.ParseRank(trim(name))
	if !ok || rank == pipeline.Guest {
		return rank, 0, ok
	}
	ttl = defaultTTL(rank)
	for params != "" {
		var param string
		param, params, _ = strings.Cut(params, ";")
		key, text, _ := strings.Cut(param, "=")
		if !strings.EqualFold(trim(key), "ttl") {
			continue
		}
		if ttl, ok = parseTTL(unquote(trim(text))); !ok {
			return pipeline.Guest, 0, false
		}
	}
	return rank, min(max(ttl, minTTL), MaxTTL), true
}

func trim(s string) string { return strings.Trim(s, " \t") }

func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// defaultTTL is how long a grant of a rank lasts when the header does not say.
func defaultTTL(r pipeline.Rank) time.Duration {
	if r == pipeline.Prospect || r == pipeline.Checkout {
		return 30 * time.Minute
	}
	return 8 * time.Hour
}

// parseTTL reads whole seconds or a duration. What is too large for either is
// long, not wrong.
func parseTTL(text string) (time.Duration, bool) {
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return d, true
	}
	digits := strings.TrimLeft(text, "+-")
	if len(text)-len(digits) > 1 || digits == "" {
		return 0, false
	}
	if strings.Trim(digits, "0123456789") == "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n > int64(MaxTTL/time.Second) {
			n = int64(MaxTTL / time.Second)
		}
		if text[0] == '-' {
			n = 0
		}
		return time.Duration(n) * time.Second, true
	}
	if text[0] != '-' && wellFormed(digits) {
		return math.MaxInt64, true
	}
	return 0, false
}

// wellFormed reports whether s is written like a duration: numbers, each with
// a unit. A value that is and yet cannot be parsed is too large.
func wellFormed(s string) bool {
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789.")
		number := s[:len(s)-len(rest)]
		if strings.Trim(number, ".") == "" || strings.Count(number, ".") > 1 {
			return false
		}
		unit := rest[:len(rest)-len(strings.TrimLeft(rest, "hmsnuµμ"))]
		switch unit {
		case "h", "m", "s", "ms", "us", "µs", "μs", "ns":
		default:
			return false
		}
		s = rest[len(unit):]
	}
	return true
}
