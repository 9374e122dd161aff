package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/jsonbody"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal/view"
	"github.com/andreimerlescu/concert/stages/operations"
)

// serveSettings shows the settings, or changes them: PATCH {"key": value, …},
// where null resets a key to flag, variable or default. With ?dry-run=1 it only
// says what the change would come to. For PATCH, change is held.
func (a *App) serveSettings(v *pipeline.Visit) {
	if v.R.Method != http.MethodPatch {
		operations.WriteJSON(v, http.StatusOK, a.settingsView())
		return
	}
	ch, err := readChanges(v.R)
	if err != nil {
		operations.WriteError(v, http.StatusBadRequest, err.Error())
		return
	}
	a.serveEdit(v, changing(byToken(v), ch))
}

// serveUndo takes the last change back. Called with change held.
func (a *App) serveUndo(v *pipeline.Visit) {
	e, err := a.undoing(byToken(v))
	if err != nil {
		writeEditError(v, err)
		return
	}
	a.serveEdit(v, e)
}

// serveEdit carries out a change and answers it.
func (a *App) serveEdit(v *pipeline.Visit, e edit) {
	var err error
	if e.dry, err = dryRun(v.R); err != nil {
		operations.WriteError(v, http.StatusBadRequest, err.Error())
		return
	}
	done, err := a.edit(v.R.Context(), e)
	if err != nil {
		writeEditError(v, err)
		return
	}
	operations.WriteJSON(v, http.StatusOK, done.view(e.dry))
}

// view is what a change came to, for programs and pages.
func (done Edited) view(dry bool) view.Edited {
	out := view.Edited{
		DryRun: dry, Changed: []view.Change{}, // none is [], and not null
		Affects: []view.Affected{}, Warnings: append([]string{}, done.Warnings...),
	}
	for _, c := range done.Changes {
		out.Changed = append(out.Changed, view.Change{Key: c.Key, From: c.From, To: c.To, FromSource: c.FromSource, ToSource: c.ToSource})
	}
	for _, e := range done.Affects {
		out.Affects = append(out.Affects, view.Affected(e))
	}
	return out
}

func dryRun(r *http.Request) (bool, error) {
	query := r.URL.Query()
	for name := range query {
		if name != "dry-run" { // a misspelt dry run must not become a change
			return false, fmt.Errorf("parameter %q: the only one is dry-run", name)
		}
	}
	text := query.Get("dry-run")
	if text == "" {
		return false, nil
	}
	dry, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("dry-run is %q: want 1 or 0", text)
	}
	return dry, nil
}

// readChanges reads {"key": value or null, …}.
func readChanges(r *http.Request) (config.Changes, error) {
	var in map[string]json.RawMessage
	if err := jsonbody.Decode(r.Body, &in); err != nil {
		return config.Changes{}, fmt.Errorf(`body must be {"key": value, …}: %w`, err)
	}
	ch := config.Changes{Set: make(map[string]json.RawMessage)}
	for key, value := range in {
		if string(value) == "null" {
			ch.Reset = append(ch.Reset, key)
		} else {
			ch.Set[key] = value
		}
	}
	if len(in) == 0 {
		return ch, errors.New("the body changes nothing")
	}
	return ch, nil
}

// writeEditError answers a change that was not made.
func writeEditError(v *pipeline.Visit, err error) {
	operations.WriteError(v, editStatus(err), err.Error())
}

// editStatus is the status of a change that was not made.
func editStatus(err error) int {
	switch {
	case errors.Is(err, persist.ErrEdited), errors.Is(err, ErrNoUndo):
		return http.StatusConflict
	case errors.Is(err, ErrFixed):
		return http.StatusNotImplemented
	case errors.Is(err, ErrReplaced):
		return http.StatusServiceUnavailable
	case errors.Is(err, ErrNotSaved), errors.Is(err, errHalfway):
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest // the values
}
