package view

import (
	"fmt"
	"time"
)

// why explains to an operator what a visitor in line waits for, the most
// telling thing first.
func why(s Status, r QueueRow, now time.Time) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch s.Room {
	case "paused":
		say("Admissions are paused: nobody is let in until an operator resumes them.")
	case "closed":
		say("The room is closed: nobody is let in.")
	}
	switch {
	case r.AtDoor:
		say("Their request stands at the door and gets the next free slot in order.")
	case r.Ready:
		say("They have been told to come; their browser reloads the page by itself.")
	case r.Absent && r.LastSeen.IsZero():
		say("Their browser has never asked again since the place was given. It may have been closed, or keeps no cookies. The place is kept, and they are passed over until they come back.")
	case r.Absent:
		say("Their browser has not asked for %s. The place is kept, and they are passed over until they come back.", span(now.Sub(r.LastSeen)))
	}
	if ahead := r.Position - 1; ahead > 0 {
		verb := "are"
		if ahead == 1 {
			verb = "is"
		}
		say("%s %s ahead of them.", counted(ahead, "visitor", "visitors"), verb)
	} else {
		say("They are next.")
	}
	if s.InFlight >= s.Cap && s.Cap > 0 {
		say("All %s slots are taken.", number(s.Cap))
	}
	if called := r.Ready || r.AtDoor; r.ETA >= time.Second && s.Room == "open" && !called && !r.Absent {
		say("At %s admissions a second their turn is expected in about %s.", rate(s.Admissions), span(r.ETA))
	} else if s.Room == "open" && s.Admissions < 0.05 && !called {
		say("Nobody is being let in at present, so their turn cannot be told: look at the origin's latency.")
	}
	if r.Promoted {
		say("They have been moved up already.")
	}
	return out
}

// ended says what became of a ticket that is not in line.
func ended(how string) string {
	switch how {
	case "admitted":
		return "is not in line any more: they were let in."
	case "expired":
		return "is not in line any more: they stayed away too long, or left."
	case "removed":
		return "is not in line any more: an operator or a ban removed them."
	}
	return "is not in line. They may have been let in, have left, or never have had to wait."
}

// share is how full the origin is, in percent.
func share(s Status) int {
	if s.Cap == 0 {
		return 0
	}
	return min(100, 100*s.InFlight/s.Cap)
}

// sentence says what the room does.
func sentence(s Status) string {
	switch s.Room {
	case "paused":
		return "Admissions are paused"
	case "closed":
		return "The room is closed"
	}
	if s.Waiting == 0 {
		return "Open, nobody has to wait"
	}
	return "Open, visitors are let in by turns"
}

// explain says what that means for those who come.
func explain(s Status) string {
	switch s.Room {
	case "paused":
		return counted(s.Waiting, "visitor waits", "visitors wait") + ". Newcomers get a place in line and nobody is let in. Requests under way finish."
	case "closed":
		return "Newcomers are turned away, nobody is let in, and those who wait keep their places."
	}
	if s.Waiting == 0 {
		return "Newcomers are let in at once while there is a free slot."
	}
	return counted(s.Waiting, "visitor waits", "visitors wait") + ", and " + rate(s.Admissions) + " a second are let in."
}
