package pages

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Page is a Markdown file.
type Page struct {
	Path   string // from the root of the repository, with slashes
	Blocks []Block
	Prose  string // the rest
}

// Block is one code block of a page.
type Block struct {
	Page     string
	Line     int    // of its fence
	Language string // the first word after the backquotes
	How      string // the second one
	Reason   string // what follows the colon
	Text     string
}

// At says where the block is: page:line.
func (b Block) At() string { return b.Page + ":" + strconv.Itoa(b.Line) }

// Read takes every page below the root apart. Problems are code blocks that do
// not say what they are, and where.
func Read(root string) (all []Page, problems []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && isOthers(d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		page, wrong := Parse(filepath.ToSlash(name), string(text))
		all, problems = append(all, page), append(problems, wrong...)
		return nil
	})
	return all, problems, err
}

// isOthers reports whether a folder holds pages that are not this repository's.
func isOthers(folder string) bool {
	return strings.HasPrefix(folder, ".") || slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, folder)
}

// Parse takes one page apart.
func Parse(path, text string) (p Page, problems []string) {
	p.Path = path
	var open *Block
	var prose, body strings.Builder
	margin, blank, number := "", true, 0
	for line := range strings.Lines(text) {
		number++
		bare := strings.TrimSpace(line)
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			margin = line[:strings.Index(line, "`")]
			open = fence(path, number, bare[3:])
		case open != nil && bare == "```":
			open.Text = body.String()
			problems = append(problems, open.problems()...)
			p.Blocks = append(p.Blocks, *open)
			open = nil
			body.Reset()
		case open != nil:
			body.WriteString(strings.TrimPrefix(line, margin))
		default:
			if blank && strings.HasPrefix(line, "    ") && bare != "" {
				problems = append(problems, fmt.Sprintf("%s:%d: a code block is fenced and says what it is: ```sh and the like; package internal/pages has the words", path, number))
			}
			prose.WriteString(line)
		}
		blank = bare == ""
	}
	if open != nil {
		problems = append(problems, open.At()+": the block does not end")
	}
	p.Prose = prose.String()
	return p, problems
}

// fence reads what follows the backquotes.
func fence(path string, line int, info string) *Block {
	info, reason, _ := strings.Cut(info, ":")
	language, how, _ := strings.Cut(strings.TrimSpace(info), " ")
	return &Block{Page: path, Line: line, Language: language, How: how, Reason: strings.TrimSpace(reason)}
}

// languages are those that blocks may be in, beside sh.
func languages() []string {
	return []string{"text", "http", "json", "yaml", "nginx", "haproxy", "apache", "ini", "env", "promql", "php", "python", "ruby", "js", "go"}
}

// ways are the words after sh, and whether a reason has to follow.
func ways() map[string]bool {
	return map[string]bool{"": false, "serve": false, "gate": false, "refused": true, "check": true, "norun": true}
}

// command is a line that somebody will type.
var command = regexp.MustCompile(`(?m)^\s*(?:[$#] )?(?:sudo )?(?:concert|curl|go|make|docker|kubectl|systemctl|apt-get|php|ab|openssl|install) `)

func (b Block) problems() []string {
	reasoned, known := ways()[b.How]
	switch {
	case b.Language == "sh" && (!known || reasoned != (b.Reason != "")):
		return []string{fmt.Sprintf("%s: %q with the reason %q is no way to run commands", b.At(), b.How, b.Reason)}
	case b.Language == "sh":
		return nil
	case !slices.Contains(languages(), b.Language):
		return []string{fmt.Sprintf("%s: the language %q is none of %q", b.At(), b.Language, languages())}
	case b.Language != "go" && command.MatchString(b.Text):
		return []string{fmt.Sprintf("%s: %q holds a command and is not sh", b.At(), b.Language)}
	}
	return nil
}

// Code is all that the page shows as code, a line for each piece in its text.
func (p Page) Code() string {
	var all strings.Builder
	for _, b := range p.Blocks {
		all.WriteString(b.Text)
	}
	for _, span := range p.Spans() {
		all.WriteString(span + "\n")
	}
	return all.String()
}

// span is a piece of code in running text, which may go over lines.
var span = regexp.MustCompile("`([^`]+)`")

// Spans are the pieces of code in running text, each as one line.
func (p Page) Spans() []string {
	var all []string
	for _, m := range span.FindAllStringSubmatch(p.Prose, -1) {
		all = append(all, strings.Join(strings.Fields(m[1]), " "))
	}
	return all
}
