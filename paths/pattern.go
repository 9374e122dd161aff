package paths

import (
	"errors"
	"fmt"
	"strings"

	"github.com/andreimerlescu/concert/internal/commas"
)

// maxPattern is the longest pattern, in bytes; table look-ups rely on it.
const maxPattern = 255

// pattern is one entry of a list: an exact path, or a prefix ending in a slash.
type pattern struct {
	path   string
	prefix bool
}

// String returns the pattern as an operator writes it.
func (p pattern) String() string {
	if p.prefix {
		return p.path + "*"
	}
	return p.path
}

// lower returns the pattern with its path in lower case.
func (p pattern) lower() pattern { return pattern{lower(p.path), p.prefix} }

// lower returns s with ASCII letters in lower case. Others keep their case:
// their folding depends on the origin's language and file system.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// Check reports everything that is wrong with a comma-separated list of
// patterns by itself. name is the flag it came from, such as "-assets".
func Check(name, entries string) error {
	_, problems := parsePatterns(name, entries)
	return errors.Join(problems...)
}

// parsePatterns reads a list, skipping blank entries.
func parsePatterns(name, entries string) (patterns []pattern, problems []error) {
	for entry := range commas.Entries(entries) {
		p, err := parsePattern(entry)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %q %w", name, entry, err))
			continue
		}
		patterns = append(patterns, p)
	}
	return patterns, problems
}

// parsePattern reads `/path` or `/path/*`. Its errors continue a sentence that
// begins with the entry.
func parsePattern(entry string) (pattern, error) {
	p := pattern{path: entry}
	p.path, p.prefix = strings.CutSuffix(entry, "/*")
	if p.prefix {
		p.path += "/"
	}
	switch {
	case entry == "/*", entry == "*":
		return p, errors.New("takes every path of the site: list directories, such as /css/*")
	case p.path[0] != '/':
		return p, fmt.Errorf("has no leading slash: write %q", "/"+entry)
	case len(entry) > maxPattern:
		return p, fmt.Errorf("is longer than %d bytes: list a directory above it", maxPattern)
	case strings.Contains(p.path, "*"):
		return p, errors.New("has a star elsewhere than in a final /*: list exact paths and directories")
	case strings.Contains(p.path, "/:"):
		return p, errors.New("has a segment starting with a colon, and there are no named wildcards: list a directory, such as /users/*")
	case strings.Contains(p.path, "?"):
		return p, errors.New("has a query, and only paths are matched: remove it from the question mark on")
	}
	if err := p.checkClean(); err != nil {
		return p, err
	}
	return p, p.checkOwn()
}

// checkClean refuses a pattern that no clean path could meet.
func (p pattern) checkClean() error {
	clean := Canonical(p.path)
	switch {
	case clean.Kind == Plain:
		return nil
	case clean.Kind == Unreadable || clean.Clean == "/":
		return errors.New("is no path in its clean form: write it without escapes, parameters and dot segments")
	}
	return fmt.Errorf("is not in the clean form paths are matched in: write %q",
		pattern{clean.Clean, p.prefix}.String())
}

// checkOwn refuses a pattern that covers one of Concert's own paths.
func (p pattern) checkOwn() error {
	if isOwn(p.path) {
		return errors.New("is one of Concert's own paths, which never reach the origin: remove it")
	}
	for _, own := range []string{QueueStatus, QueueLeave, QueueReturn} {
		if p.prefix && strings.HasPrefix(own, lower(p.path)) {
			return fmt.Errorf("covers %s, one of Concert's own paths: list what lies beside it", own)
		}
	}
	return nil
}
