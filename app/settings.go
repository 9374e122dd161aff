package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
)

// Errors of changing settings, beside those of the values.
var (
	ErrFixed    = errors.New("settings are fixed: the program was started without sources to change them in")
	ErrReplaced = errors.New("this process is being replaced: try again in a moment")
	ErrNotSaved = errors.New("nothing was changed, since it cannot be saved")
	ErrNoUndo   = errors.New("there is no change to undo")

	errHalfway = errors.New("the change is saved, but not in force before a restart")
)

// byToken is whoever sent a request with the admin token.
func byToken(v *pipeline.Visit) persist.By {
	return persist.By{Who: "token", Client: v.Client.Addr.String()}
}

// Edited is what a change of settings comes to.
type Edited struct {
	Changes  []config.Change
	Warnings []string // that were not there before
	Affects  []Effect
}

// edit is a change of the settings.
type edit struct {
	by   persist.By
	what string // for the audit trail
	next func(*config.Loaded) (*config.Loaded, error)
	dry  bool // only say what it would come to
	// guard, when set, may refuse what the change would come to.
	guard func(next *config.Config) error
}

// changing is the edit that makes changes.
func changing(by persist.By, ch config.Changes) edit {
	return edit{by: by, what: "settings", next: func(l *config.Loaded) (*config.Loaded, error) { return l.With(ch) }}
}

// setting is the edit that sets a number.
func setting(by persist.By, key string, n int) edit {
	return changing(by, config.Changes{Set: map[string]json.RawMessage{key: json.RawMessage(strconv.Itoa(n))}})
}

// Change changes settings while the App runs. Either all changes are valid,
// saved and in force when it returns, or none is.
//
// The error is ErrFixed, ErrReplaced, ErrNotSaved (which wraps
// persist.ErrEdited where that is why), or says what is wrong with the values.
func (a *App) Change(ctx context.Context, by persist.By, ch config.Changes) (Edited, error) {
	a.change.Lock()
	defer a.change.Unlock()
	return a.edit(ctx, changing(by, ch))
}

// undoing is the edit that takes the last one back.
func (a *App) undoing(by persist.By) (edit, error) {
	if a.settings == nil {
		return edit{}, ErrFixed
	}
	values, ok := a.settings.Previous()
	if !ok {
		return edit{}, ErrNoUndo
	}
	return edit{by: by, what: "undo", next: func(l *config.Loaded) (*config.Loaded, error) { return l.WithStored(values) }}, nil
}

// edit carries out a change, with change held: a complete new configuration is
// checked and built, then saved, then put in force.
func (a *App) edit(ctx context.Context, e edit) (Edited, error) {
	switch {
	case a.loaded == nil:
		return Edited{}, ErrFixed
	case a.frozen:
		return Edited{}, ErrReplaced
	}
	next, err := e.next(a.loaded)
	if err != nil {
		return Edited{}, err
	}
	c := next.Over(a.cfg.Load())
	if e.guard != nil {
		if err := e.guard(c); err != nil {
			return Edited{}, err
		}
	}
	p, err := a.plan(c)
	if err != nil {
		return Edited{}, err
	}
	now := time.Now()
	out := Edited{Changes: a.loaded.Diff(next), Warnings: added(a.loaded.Warnings, next.Warnings), Affects: a.effects(c, now)}
	if e.dry {
		return out, nil
	}
	if err := a.settings.Save(next.Stored(), now); err != nil {
		return Edited{}, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	if err := a.swap(ctx, p); err != nil {
		return Edited{}, fmt.Errorf("%w: %w", errHalfway, err)
	}
	if !strings.HasPrefix(e.by.Who, byInstance) {
		a.tellSettings(a.loaded.Stored(), next.Stored())
	}
	a.loaded = next
	a.auditChanges(e, out.Changes, now)
	return out, nil
}

// added returns the lines that were not there before.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(line string) bool { return slices.Contains(before, line) })
}

// auditChanges takes down what was changed. With change held.
func (a *App) auditChanges(e edit, changes []config.Change, now time.Time) {
	act := persist.Act{At: now, What: e.what}
	for _, c := range changes {
		act.Changes = append(act.Changes, persist.ActChange{Key: c.Key, From: c.From, To: c.To})
		a.log.Info("setting changed", "key", c.Key, "from", c.From, "to", c.To, "source", c.ToSource, "by", e.by.InWords())
	}
	a.audit(e.by, act)
}

// audit takes down an act. One that cannot be written now is kept, and the
// directory reports the fault: what was done is done.
func (a *App) audit(by persist.By, act persist.Act) {
	act.By = by
	if act.At.IsZero() {
		act.At = time.Now()
	}
	_ = a.data.Audit(act)
}

// Reload reads the sources again: the settings file, the files of -env-file,
// the waiting page and certificates. With an error, everything stays as it was.
func (a *App) Reload(ctx context.Context) error {
	a.change.Lock()
	defer a.change.Unlock()
	switch {
	case a.loaded == nil:
		return ErrFixed
	case a.frozen:
		return ErrReplaced
	}
	next, err := a.loaded.Reload()
	if err == nil && a.data.Path() == "" {
		next, err = next.WithStored(a.settings.Values())
	}
	if err != nil {
		return err
	}
	if err := a.reconfigure(ctx, next.Over(a.cfg.Load())); err != nil {
		return err
	}
	if err := a.certs.Refresh(); err != nil {
		a.log.Error("certificates stay as they were", "error", err)
	}
	if err := a.settings.Read(); err != nil {
		a.log.Error("the settings file changed while it was read; send SIGHUP again", "error", err)
	}
	a.reloaded(next)
	return nil
}

// reloaded takes down what is in force now, and what takes a restart.
func (a *App) reloaded(next *config.Loaded) {
	for _, w := range added(a.loaded.Warnings, next.Warnings) {
		a.log.Warn(w)
	}
	changes := a.loaded.Diff(next)
	for _, c := range changes {
		if !c.Live {
			a.log.Warn("this setting changes with the next start", "key", c.Key, "from", c.From, "to", c.To)
		}
	}
	a.loaded = next
	a.auditChanges(edit{by: persist.By{Who: "signal"}, what: "reload"}, changes, time.Now())
}
