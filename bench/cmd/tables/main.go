// Command tables measures Concert and writes the tables of docs/performance.md.
//
//	go run ./bench/cmd/tables                       # about 25 minutes
//	go run ./bench/cmd/tables -only pages,answers   # these tables only
//	go run ./bench/cmd/tables -scale 0.1            # quick and rough
//
// It builds and runs Concert, and nginx, HAProxy and Caddy where they are
// installed. Linux only. It must run at the top of the repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/bench/command"
	"github.com/andreimerlescu/concert/bench/load"
	"github.com/andreimerlescu/concert/bench/tables"
)

func main() { command.Main("tables", run) }

func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("tables", flag.ContinueOnError)
	file := fs.String("file", "docs/performance.md", "the document")
	only := fs.String("only", strings.Join(tables.Names(), ","), "the tables to take")
	scale := fs.Float64("scale", 1, "how long to measure, 0.01 to 100")
	role := fs.String("role", "", "be a part of a measurement, as package load starts it")
	size := fs.Int("size", 1<<10, "the bytes of such a part's answers")
	upstream := fs.String("upstream", "", "the origin of such a part")
	if err := command.Parse(fs, args); err != nil {
		return err
	}
	if *role != "" {
		return load.Play(*role, os.Stdout, *size, *upstream)
	}
	if *scale < 0.01 || *scale > 100 {
		return fmt.Errorf("scale %v: want 0.01 to 100", *scale)
	}
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if !slices.Contains(tables.Names(), name) {
			return fmt.Errorf("table %q: want some of %v", name, tables.Names())
		}
	}
	binary, remove, err := command.Concert(ctx, "")
	if err != nil {
		return err
	}
	defer remove()
	o := tables.Options{Binary: binary, Scale: *scale, Contestants: installed()}
	if o.Self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	for _, m := range tables.Measurements() {
		if slices.Contains(wanted, m.Name) {
			if err := write(ctx, *file, m, o); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
	}
	return nil
}

// write takes a table and puts it into the document.
func write(ctx context.Context, file string, m tables.Measurement, o tables.Options) error {
	fmt.Fprintln(os.Stderr, "measuring:", m.Name)
	table, err := m.Run(ctx, o)
	if err != nil {
		return err
	}
	fmt.Println(table)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replaced, err := tables.Replace(string(text), m.Name, table)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(replaced), 0o644)
}

// installed are the contestants that this machine has.
func installed() []load.Contestant {
	return slices.DeleteFunc(load.Contestants(), func(c load.Contestant) bool {
		_, err := exec.LookPath(c.Program)
		return err != nil
	})
}
