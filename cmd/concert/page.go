package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// runPage is the subcommand that writes the built-in waiting page to a file,
// as a starting point for one's own. It never writes over a file.
func runPage(_ context.Context, args, _ []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("concert page", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: concert page [-lang LANGUAGE] FILE\n\nWrites the built-in waiting page to FILE, which -html can then show; - is the standard output.")
		flags.PrintDefaults()
	}
	code := flags.String("lang", "en", "language of the page: "+language.Codes())
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	l, known := language.Parse(*code)
	if !known || flags.NArg() != 1 {
		if !known {
			fmt.Fprintf(stderr, "concert page: -lang %q is not among the languages of the page\n", *code)
		}
		flags.Usage()
		return exitUsage
	}
	if err := exportPage(l, flags.Arg(0), stdout); err != nil {
		fmt.Fprintf(stderr, "concert page: %v\n", err)
		return exitFailed
	}
	return exitOK
}

func exportPage(l language.Language, name string, stdout io.Writer) (err error) {
	html, err := page.Export(l, page.Look{})
	if err != nil {
		return err
	}
	if name == "-" {
		_, err := stdout.Write(html)
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(html)
	return err
}
