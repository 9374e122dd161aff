package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"time"
)

// upgradeTime bounds a hand-over to a new process.
const upgradeTime = time.Minute

// notify has the signals that do not end the program sent to the channel.
func notify() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, handledSignals()...)
	return signals
}

// obey carries out signals until ctx ends: one has a new process take over, after
// which stop is called, the others are for reload.
func obey(ctx context.Context, signals <-chan os.Signal, takeOver func() bool, reload func(os.Signal), stop func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-signals:
			if !isUpgrade(s) {
				reload(s)
			} else if takeOver() {
				stop()
				return
			}
		}
	}
}

func (in *instance) reload(ctx context.Context) {
	if err := in.app.Reload(ctx); err != nil {
		in.log.Error("the settings stay as they were", "error", err)
		return
	}
	in.log.Info("settings read again")
}

// upgrade reports whether another process has taken over.
func upgrade(ctx context.Context, handOver func(context.Context) error, log *slog.Logger) bool {
	ctx, cancel := context.WithTimeout(ctx, upgradeTime)
	defer cancel()
	log.Info("starting a new process to take over")
	if err := handOver(ctx); err != nil {
		log.Error("no other process took over; this one goes on", "error", err)
		return false
	}
	log.Info("another process has taken over")
	return true
}
