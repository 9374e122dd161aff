package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/portal"
)

// runDocs rewrites what the documentation takes from the program's tables, below
// the directory given (the repository's root). With -check it changes nothing
// and fails when a file is out of date.
func runDocs(_ context.Context, args, _ []string, _, stderr io.Writer) int {
	checkOnly := len(args) == 2 && args[0] == "-check"
	if len(args) != 1 && !checkOnly {
		fmt.Fprintln(stderr, "usage: concert docs [-check] DIRECTORY")
		return exitUsage
	}
	stale, err := writeDocs(args[len(args)-1], checkOnly)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, err)
		return exitFailed
	case len(stale) > 0 && checkOnly:
		fmt.Fprintf(stderr, "out of date, run make docs: %v\n", stale)
		return exitFailed
	}
	return exitOK
}

// writeDocs returns the files that were out of date.
func writeDocs(root string, checkOnly bool) (stale []string, err error) {
	var settings bytes.Buffer
	if err := config.WriteMarkdown(&settings); err != nil {
		return nil, err
	}
	generated := map[string][]byte{
		"docs/configuration.md": fmt.Appendf(nil, "# Configuration\n\n%s", settings.Bytes()),
		"docs/refusals.md":      app.RefusalsMarkdown(),
		"docs/metrics.md":       app.MetricsMarkdown(),
		"portal/openapi.json":   portal.OpenAPI(),
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		return nil, err
	}
	generated["README.md"], err = splice(readme, settings.Bytes())
	if err != nil {
		return nil, err
	}
	for name, want := range generated {
		path := filepath.Join(root, name)
		have, _ := os.ReadFile(path) // a missing file is out of date
		if bytes.Equal(have, want) {
			continue
		}
		stale = append(stale, name)
		if !checkOnly {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				return nil, err
			}
		}
	}
	return stale, nil
}

const (
	tableBegin = "<!-- settings -->\n"
	tableEnd   = "<!-- /settings -->\n"
)

// splice puts the settings table between its marks in the README.
func splice(readme, table []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(readme, []byte(tableBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(tableEnd))
	if !ok || !ok2 {
		return nil, fmt.Errorf("README.md lacks the lines %q and %q", tableBegin, tableEnd)
	}
	return bytes.Join([][]byte{before, []byte(tableBegin), table, []byte(tableEnd), after}, nil), nil
}
