package pages

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

var (
	// link is the target of a link or picture.
	link = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// outside begins targets that are not of this repository.
	outside = regexp.MustCompile(`^(?:[a-z]+:|/)`)
)

// Links are the targets of the page's links that lie within the repository.
func (p Page) Links() []string {
	var all []string
	for _, m := range link.FindAllStringSubmatch(span.ReplaceAllString(p.Prose, "``"), -1) {
		if !outside.MatchString(m[1]) {
			all = append(all, m[1])
		}
	}
	return all
}

// Anchors are the page's headings as links name them, by GitHub's rules.
func (p Page) Anchors() map[string]bool {
	found := map[string]bool{}
	for line := range strings.Lines(p.Prose) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			found[anchor(strings.TrimSpace(title))] = true
		}
	}
	return found
}

// anchor drops what is neither letter, digit, hyphen nor underscore.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// DeadLinks tells of links that lead to no file or heading below the root.
func DeadLinks(root string, all []Page) []string {
	byPath := map[string]Page{}
	for _, p := range all {
		byPath[p.Path] = p
	}
	var dead []string
	for _, p := range all {
		for _, target := range p.Links() {
			file, heading, _ := strings.Cut(target, "#")
			where := p.Path
			if file != "" {
				where = path.Join(path.Dir(p.Path), file)
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(where))); err != nil {
				dead = append(dead, fmt.Sprintf("%s: there is no %s", p.Path, target))
			} else if to, ok := byPath[where]; ok && heading != "" && !to.Anchors()[heading] {
				dead = append(dead, fmt.Sprintf("%s: %s has no heading #%s", p.Path, where, heading))
			}
		}
	}
	return dead
}
