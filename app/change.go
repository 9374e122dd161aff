package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/persist"
)

// Reconfigure has everything from now on go by another configuration, in an
// App that was made without Options.Loaded. Requests under way finish by the
// old one; tickets, passes, bans and counters go on. Either all of c is put in
// force or, with an error, none of it. Settings that take a restart keep their
// values.
func (a *App) Reconfigure(ctx context.Context, c *config.Config) error {
	a.change.Lock()
	defer a.change.Unlock()
	if a.loaded != nil {
		return errors.New("settings come from Options.Loaded: use Change")
	}
	return a.reconfigure(ctx, c)
}

func (a *App) reconfigure(ctx context.Context, c *config.Config) error {
	p, err := a.plan(c)
	if err != nil {
		return err
	}
	return a.swap(ctx, p)
}

// swap puts a plan in force. Called with change held.
func (a *App) swap(ctx context.Context, p *plan) error {
	now := time.Now()
	if err := a.line.Configure(ctx, now, p.line); err != nil {
		return fmt.Errorf("configure the line: %w", err)
	}
	if err := a.applyRooms(ctx, p, nil, now); err != nil {
		return err
	}
	if err := a.abuse.Apply(p.abuse, now); err != nil {
		return fmt.Errorf("BUG: the registry refuses what it had accepted: %w", err)
	}
	if err := a.stages.apply(p); err != nil {
		return fmt.Errorf("BUG: a stage refuses what it had accepted: %w", err)
	}
	if err := a.pipeline.Swap(a.pipelineConfig(p), a.order...); err != nil {
		return fmt.Errorf("BUG: the pipeline refuses what it had accepted: %w", err)
	}
	a.history.Apply(historySettings(p.cfg))
	a.guard.Apply(guardConfig(p.cfg, a.log))
	a.desk.Apply(deskConfig(p.cfg))
	a.proxies.use(p.proxy)
	a.certs.Use(p.certs)
	a.hsts.set(p.cfg)
	a.cfg.Store(p.cfg)
	return nil
}

// SetCap changes the page capacity, 1 to 2147483647, and what is derived from
// it. With Options.Loaded it is [App.Change] of that one setting.
func (a *App) SetCap(ctx context.Context, n int) error {
	a.change.Lock()
	defer a.change.Unlock()
	if err := a.setCap(ctx, persist.By{Who: "program"}, n); err != nil {
		return fmt.Errorf("change the cap to %d: %w", n, err)
	}
	return nil
}

// setCap is SetCap with change held.
func (a *App) setCap(ctx context.Context, by persist.By, n int) error {
	if a.loaded == nil {
		c := *a.cfg.Load()
		c.Cap = n
		return a.reconfigure(ctx, &c)
	}
	_, err := a.edit(ctx, setting(by, "cap", n))
	return err
}
