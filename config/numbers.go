package config

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// flagged is a bool.
func flagged(at func(*Config) *bool) binding {
	return bound[bool]{at, codec[bool]{
		Shape: Shape{Kind: KindBool, Want: "true or false"},
		parse: func(text string) (bool, error) {
			v, err := strconv.ParseBool(text)
			if err != nil {
				return false, misfit("")
			}
			return v, nil
		},
		format: strconv.FormatBool,
		check:  func(bool) error { return nil },
	}}
}

// whole is an integer from lo to hi. Its row adds the words, with the unit.
func whole[T int | int64](at func(*Config) *T, lo, hi T) binding {
	shape := Shape{
		Kind: KindInt,
		Min:  strconv.FormatInt(int64(lo), 10),
		Max:  strconv.FormatInt(int64(hi), 10),
	}
	return bound[T]{at, codec[T]{
		Shape: shape,
		parse: func(text string) (T, error) {
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil || int64(T(v)) != v {
				return 0, misfit("")
			}
			return T(v), nil
		},
		format: func(v T) string { return strconv.FormatInt(int64(v), 10) },
		check: func(v T) error {
			if v < lo || v > hi {
				return misfit("")
			}
			return nil
		},
	}}
}

// decimal is a number from lo to hi that need not be whole. Its row adds the
// words, with the unit.
func decimal(at func(*Config) *float64, lo, hi float64) binding {
	format := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return bound[float64]{at, codec[float64]{
		Shape: Shape{Kind: KindFloat, Min: format(lo), Max: format(hi)},
		parse: func(text string) (float64, error) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return 0, misfit("")
			}
			return v, nil
		},
		format: format,
		check: func(v float64) error {
			if !(lo <= v && v <= hi) { // not a number fails too
				return misfit("")
			}
			return nil
		},
	}}
}

// interval is a duration from lo to hi.
func interval(at func(*Config) *time.Duration, lo, hi time.Duration) binding {
	return durations(at, lo, hi, "a duration from ", false)
}

// zeroOr is a duration from lo to hi, or zero, which has a meaning of its own.
func zeroOr(at func(*Config) *time.Duration, lo, hi time.Duration) binding {
	return durations(at, lo, hi, "0 or a duration from ", true)
}

func durations(at func(*Config) *time.Duration, lo, hi time.Duration, want string, zero bool) binding {
	shape := Shape{Kind: KindDuration, Min: FormatDuration(lo), Max: FormatDuration(hi)}
	shape.Want = want + shape.Min + " to " + shape.Max
	return bound[time.Duration]{at, codec[time.Duration]{
		Shape:  shape,
		parse:  parseDuration,
		format: FormatDuration,
		check: func(d time.Duration) error {
			if zero && d == 0 || lo <= d && d <= hi {
				return nil
			}
			return misfit("")
		},
	}}
}

// seconds is a duration written as a whole number of seconds, the way the
// Retry-After header carries it.
func seconds(at func(*Config) *time.Duration, lo, hi int64) binding {
	shape := Shape{Kind: KindSeconds, Min: strconv.FormatInt(lo, 10), Max: strconv.FormatInt(hi, 10)}
	shape.Want = "a whole number of seconds from " + shape.Min + " to " + shape.Max
	return bound[time.Duration]{at, codec[time.Duration]{
		Shape:  shape,
		parse:  parseSeconds,
		format: func(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) },
		check: func(d time.Duration) error {
			if d%time.Second != 0 || d < time.Duration(lo)*time.Second || d > time.Duration(hi)*time.Second {
				return misfit("")
			}
			return nil
		},
	}}
}

func parseSeconds(text string) (time.Duration, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		if d, err := time.ParseDuration(text); err == nil && d > 0 && d%time.Second == 0 {
			return 0, misfit("write " + strconv.FormatInt(int64(d/time.Second), 10))
		}
		return 0, misfit("")
	}
	if n < 0 || n > math.MaxInt64/int64(time.Second) {
		return 0, misfit("")
	}
	return time.Duration(n) * time.Second, nil
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return 0, misfit("add a unit, as in " + strconv.FormatUint(n, 10) + "s")
	}
	return 0, misfit("")
}

// FormatDuration writes 10m where Duration.String writes 10m0s, and 0 for 0s.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if d == 0 {
		return "0"
	}
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
