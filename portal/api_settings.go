package portal

import (
	"encoding/json"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
)

// SettingProblem is what is wrong with one setting.
type SettingProblem struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Want  string `json:"want"` // what would be accepted, in words
	Fix   string `json:"fix,omitempty"`
}

// settingProblems finds the problems of settings in an error.
func settingProblems(err error) (out []SettingProblem) {
	switch e := err.(type) {
	case *config.Problem:
		return []SettingProblem{{e.Key, e.Value, e.Want, e.Fix}}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			out = append(out, settingProblems(one)...)
		}
	case interface{ Unwrap() error }:
		return settingProblems(e.Unwrap())
	}
	return out
}

// SettingsEdited answers a change of settings: what it came to, and the settings
// as they are now. A dry run has no settings.
type SettingsEdited struct {
	view.Edited
	*Settings
}

func apiSettings(r *request) (any, error) { return r.p.Concert.Settings(), nil }

// apiSetSettings changes settings, all or none.
func apiSetSettings(r *request) (any, error) {
	var in map[string]json.RawMessage
	if err := r.read(&in); err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, badRequest(`the body changes nothing: it must be {"key": value, …}`)
	}
	return r.edit(Edit{What: "settings", Set: in})
}

// apiResetSettings has settings go back to flag, variable or default.
func apiResetSettings(r *request) (any, error) {
	keys := r.query["key"]
	if len(keys) == 0 {
		return nil, badRequest("key is missing: name the settings to reset")
	}
	return r.edit(Edit{What: "reset", Reset: keys})
}

// apiUndoSettings takes the last change back. Whoever says which one they mean
// does not take back that of a colleague.
func apiUndoSettings(r *request) (any, error) {
	e := Edit{What: "undo", Undo: true}
	if of := r.query.Get("of"); of != "" {
		at, err := time.Parse(time.RFC3339, of)
		if err != nil {
			return nil, badRequest("of is %s: want the time that the change was answered with as updated", quoted(of))
		}
		e.Of = at
	}
	return r.edit(e)
}

// edit carries a change out. One that would shut out whoever asks is refused.
func (r *request) edit(e Edit) (any, error) {
	out, err := r.change(e)
	if err != nil {
		return nil, err
	}
	if out.DryRun {
		return SettingsEdited{Edited: out}, nil
	}
	now := r.p.Concert.Settings()
	return SettingsEdited{out, &now}, nil
}

func (r *request) change(e Edit) (out view.Edited, err error) {
	if e.DryRun, err = r.flag("dry-run"); err != nil {
		return out, err
	}
	e.Guard = r.guard
	return r.p.Concert.Edit(r.Context(), r.by(), e)
}

// guard refuses a configuration in which the request could not be repeated.
func (r *request) guard(next *config.Config) error {
	switch {
	case !isAllowed(next.PortalAllow, r.client):
		return badRequest("portal_allow would shut out your own address, %s: include it", r.client)
	case !isHost(next, r.p.Listen, r.Host):
		return badRequest("portal_hosts would no longer have the name you came by, %s: include it", quoted(hostName(r.Host)))
	}
	return nil
}

// Room is the body of POST /api/room.
type Room struct {
	Room string `json:"room"` // open, paused or closed
}

// apiRoom pauses, resumes or closes.
func apiRoom(r *request) (any, error) {
	var in Room
	if err := r.read(&in); err != nil {
		return nil, err
	}
	if in.Room == "" {
		return nil, badRequest("room is missing: want open, paused or closed")
	}
	return r.change(Edit{What: "room", Set: map[string]json.RawMessage{"room": encode(in.Room)}})
}

// Cap is the body of POST /api/cap.
type Cap struct {
	Cap json.Number `json:"cap"`
}

// apiCap changes the page capacity.
func apiCap(r *request) (any, error) {
	var in Cap
	if err := r.read(&in); err != nil {
		return nil, err
	}
	if in.Cap == "" {
		return nil, badRequest("cap is missing: want a whole number from 1")
	}
	return r.change(Edit{What: "cap", Set: map[string]json.RawMessage{"cap": json.RawMessage(in.Cap)}})
}

// encode is the JSON of a value that has one.
func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic("BUG: portal: no JSON: " + err.Error())
	}
	return text
}

// Acts are a part of the audit trail.
type Acts struct {
	Acts []persist.Act `json:"acts"` // newest first
}

// Most acts that are shown.
const (
	maxActs     = 500
	defaultActs = 100
)

// apiSettingsHistory are the acts that changed settings.
func apiSettingsHistory(r *request) (any, error) {
	return Acts{r.p.settingActs()}, nil
}

func (p *Portal) settingActs() []persist.Act {
	acts := []persist.Act{}
	for _, a := range p.Data.Acts(maxActs) {
		if len(a.Changes) > 0 {
			acts = append(acts, a)
		}
	}
	return acts
}

// apiAudit is the audit trail.
func apiAudit(r *request) (any, error) {
	n, err := r.number("limit", defaultActs)
	if err != nil {
		return nil, err
	}
	return Acts{append([]persist.Act{}, r.p.Data.Acts(min(n, maxActs))...)}, nil
}
