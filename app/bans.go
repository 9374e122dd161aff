package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/abuse/api"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
)

// restoreBans takes up the bans that are known, and has those to come saved.
func (a *App) restoreBans(kept *legacy, now time.Time) error {
	bans, saved, warnings, err := a.data.Bans()
	if err != nil {
		return err
	}
	for _, w := range warnings {
		a.log.Warn(w)
	}
	known := make([]abuse.Ban, len(saved))
	for i, b := range saved {
		known[i] = abuse.Ban(b)
	}
	if kept != nil {
		known = kept.Bans // the predecessor may have had a full disk
	}
	if err := a.abuse.Restore(known, now); err != nil {
		return fmt.Errorf("restore the bans of %s: %w", persist.BansName, err)
	}
	bans.Follow(func(now time.Time) []persist.Ban {
		all := a.abuse.Snapshot(now)
		out := make([]persist.Ban, len(all))
		for i, b := range all {
			out[i] = persist.Ban(b)
		}
		return out
	})
	a.bans = bans
	a.abuse.Subscribe(a.saveBan)
	return nil
}

// saveBan takes down what is new in the registry. A ban that ran out stays on
// record, with the same content.
func (a *App) saveBan(e abuse.Event) {
	switch e.Kind {
	case abuse.Banned:
		a.bans.Record(persist.Ban(*e.Ban))
	case abuse.Lifted, abuse.Forgotten:
		a.bans.Erase(e.Ban.Client)
	}
	a.orders.note(e)
}

// orders are the bans that operators ordered or lifted, and that are not in
// the audit trail yet.
type orders struct {
	mu   sync.Mutex // guards acts
	acts []persist.Act
}

func (o *orders) note(e abuse.Event) {
	act := persist.Act{At: e.At, Note: e.Ban.Client.String()}
	switch {
	case e.Kind == abuse.Banned && e.Ban.By != "":
		act.What = "ban"
	case e.Kind != abuse.Banned && e.By != "" && e.By != abuse.ByExemption && !strings.HasPrefix(e.By, byInstance):
		act.What = "unban"
	default:
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acts = append(o.acts, act)
}

func (o *orders) take() []persist.Act {
	o.mu.Lock()
	defer o.mu.Unlock()
	acts := o.acts
	o.acts = nil
	return acts
}

// serveAbuse answers /_room/abuse. Orders are on disk before the answer.
func (a *App) serveAbuse(v *pipeline.Visit) {
	by := byToken(v)
	(&api.Handler{
		Registry: a.abuse,
		By:       func(*http.Request) string { return by.InWords() },
		Save:     func() error { return a.saveOrders(by) },
	}).ServeHTTP(v.W, v.R)
}

// saveOrders puts operators' bans on disk. Called with change held.
func (a *App) saveOrders(by persist.By) error {
	if err := a.bans.Sync(); err != nil {
		a.orders.take()
		return fmt.Errorf("it is in force, but not on disk yet: %w", err)
	}
	for _, act := range a.orders.take() {
		a.audit(by, act)
	}
	return nil
}
