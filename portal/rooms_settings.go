package portal

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/rooms"
)

// inSettings has a change of the list of rooms be made like any other setting's.
func (r *request) inSettings(id, what string, list func(*rooms.Set) (json.RawMessage, error)) (RoomDone, error) {
	out := done(id)
	made, err := r.change(Edit{What: what, Rooms: list})
	if err != nil {
		return out, inWords(err)
	}
	out.DryRun, out.Affects, out.Warnings = made.DryRun, made.Affects, made.Warnings
	if !made.DryRun {
		out.Undo = r.p.Concert.Settings().Updated.Format(time.RFC3339Nano)
	}
	return out, nil
}

// roomsWrong is an error whose text is what is wrong with rooms alone.
type roomsWrong struct{ error }

// Error leaves out the list of all rooms, which nobody has typed.
func (e roomsWrong) Error() string {
	var all []string
	for _, one := range settingProblems(e.error) {
		all = append(all, one.Fix)
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the cause.
func (e roomsWrong) Unwrap() error { return e.error }

// inWords has an error that is about the list of rooms alone say what is wrong
// with it, and not how the list would have read.
func inWords(err error) error {
	problem, ok := errors.AsType[*Problem](err)
	all := settingProblems(err)
	other := func(p SettingProblem) bool { return p.Key != "rooms" || p.Fix == "" }
	if !ok || len(all) == 0 || slices.ContainsFunc(all, other) {
		return err
	}
	return &Problem{problem.Status, roomsWrong{err}}
}

// fixed says why settings cannot be changed; "" when they can.
func (r *request) fixed() string {
	if r.p.Concert.Settings().Fixed {
		return "Settings are fixed: the program was started without sources to change them in."
	}
	return ""
}
