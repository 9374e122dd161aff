package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/persist"
)

// takeOverTime bounds how long a predecessor may take to stop letting in.
const takeOverTime = time.Minute

// sources are where the configuration comes from: settings that were changed
// while Concert ran, the command line, the environment.
func sources(args, environ []string) config.Sources {
	return config.Sources{Args: args, Environ: environ, ReadStored: func(dir string) (config.Stored, error) {
		s, err := persist.ReadSettings(dir)
		if err != nil {
			return config.Stored{}, err
		}
		return config.Stored{Name: s.Path(), Values: s.Values()}, nil
	}}
}

// instance is a Concert that is ready to serve.
type instance struct {
	app    *app.App
	config *config.Config
	on     app.Sockets
	data   *persist.Dir
	log    *slog.Logger
}

// assemble builds everything in the order that a hand-over takes: whatever can
// go wrong without the predecessor goes wrong while that one still serves. The
// status is that of the program when there is an error.
func assemble(ctx context.Context, p *handover.Process, loaded *config.Loaded, stdout, stderr io.Writer) (in *instance, status int, err error) {
	c := loaded.Config
	in = &instance{log: newLogger(c.LogFormat, stderr, slog.LevelInfo)}
	slog.SetDefault(in.log) // what libraries have to say belongs in the same log
	in.data, err = persist.Open(c.DataDir, persist.Options{Log: in.log, Lock: p.File("lock")})
	if err != nil {
		return nil, exitFailed, err
	}
	if in.on, err = listen(p, c); err != nil {
		return nil, exitFailed, err
	}
	for _, addr := range p.CloseUnclaimed() {
		in.log.Warn("a socket was handed to Concert that no setting names; it is closed", "address", addr)
	}
	handed, err := takeOver(ctx, p)
	if err != nil {
		return nil, exitFailed, err
	}
	if loaded, err = app.Inherit(loaded, handed); err != nil {
		return nil, exitUsage, err
	}
	in.config = loaded.Config
	for _, w := range loaded.Warnings {
		in.log.Warn(w)
	}
	in.app, err = app.New(loaded.Config, app.Options{
		Log: in.log, AccessLog: newLogger(c.LogFormat, stdout, slog.LevelInfo),
		Data: in.data, Loaded: loaded, Process: p, Handed: handed, Version: version(),
	})
	if err != nil {
		return nil, exitUsage, err
	}
	return in, exitOK, nil
}

// join finds out what this process inherits. The executable is the one that a
// successor is started from.
func join(args, environ []string) (*handover.Process, error) {
	return handover.Join(handover.Options{Args: append([]string{os.Args[0]}, args...), Environ: environ})
}

func takeOver(ctx context.Context, p *handover.Process) (handover.Handed, error) {
	ctx, cancel := context.WithTimeout(ctx, takeOverTime)
	defer cancel()
	return p.TakeOver(ctx)
}
