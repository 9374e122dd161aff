package config

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

const markdownHead = `<!-- Written from the settings table in package config: change that, not this. -->

A setting that was changed while Concert runs is kept in settings.json, which
overrides everything else. A flag overrides its environment variable, and the
variable overrides the default. A flag may be set to nothing (` + "`-bypass \"\"`" + `); a blank variable counts
as unset. All problems are reported at once, and Concert does not start with
any. ` + "`concert check`" + ` takes the same flags and variables, and prints every value
in force and where it came from.

Durations are written like ` + "`500ms`, `30s` or `1h30m`" + `. Settings can change
while Concert runs, except those marked "restart to change". Secrets come from
the environment only, because other users of a machine can read command lines.
`

// WriteMarkdown writes the table for the documentation, by group, without a
// heading of its own.
func WriteMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(markdownHead)
	rows := Settings()
	for _, g := range Groups() {
		fmt.Fprintf(b, "\n**%s**\n\n", g)
		b.WriteString("| flag | environment | default | accepts | what it does |\n| --- | --- | --- | --- | --- |\n")
		for _, s := range rows {
			if s.Group == g {
				s.writeRow(b)
			}
		}
	}
	b.WriteString("\n`-version` prints the version and exits; `-help` prints this table as text.\n")
	return b.Flush()
}

func (s Setting) writeRow(b *bufio.Writer) {
	flag, standard := "", "(empty)"
	if s.Flag != "" {
		flag = "`-" + s.Flag + "`"
	}
	if s.Default != "" {
		standard = "`" + s.Default + "`"
	}
	help := s.Help
	if !s.Live {
		help += " Restart to change."
	}
	cells := []string{flag, "`" + s.Env + "`", standard, s.Want, help}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}
