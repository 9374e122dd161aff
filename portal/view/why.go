package view

import (
	"fmt"
	"slices"
	"time"
)

// why explains to an operator what a visitor in line waits for, the most
// telling thing first.
func why(s Status, r QueueRow, now time.Time) []string {
	out := slices.Concat(whyRoom(s), whyAway(r, now), whyAhead(r))
	if s.InFlight >= s.Cap && s.Cap > 0 {
		out = append(out, fmt.Sprintf("All %s slots are taken.", number(s.Cap)))
	}
	out = append(out, whenTheirTurn(s, r)...)
	if r.Promoted {
		out = append(out, "They have been moved up already.")
	}
	return out
}

func whyRoom(s Status) []string {
	switch s.Room {
	case "paused":
		return []string{"Admissions are paused: nobody is let in until an operator resumes them."}
	case "closed":
		return []string{"The room is closed: nobody is let in."}
	}
	return nil
}

// whyAway says where the visitor is, if not on the waiting page.
func whyAway(r QueueRow, now time.Time) []string {
	switch {
	case r.AtDoor:
		return []string{"Their request stands at the door and gets the next free slot in order."}
	case r.Ready:
		return []string{"They have been told to come; their browser reloads the page by itself."}
	case r.Absent && r.LastSeen.IsZero():
		return []string{"Their browser has never asked again since the place was given. It may have been closed, or keeps no cookies. The place is kept, and they are passed over until they come back."}
	case r.Absent:
		return []string{fmt.Sprintf("Their browser has not asked for %s. The place is kept, and they are passed over until they come back.", span(now.Sub(r.LastSeen)))}
	}
	return nil
}

func whyAhead(r QueueRow) []string {
	switch ahead := r.Position - 1; {
	case ahead <= 0:
		return []string{"They are next."}
	case ahead == 1:
		return []string{"1 visitor is ahead of them."}
	default:
		return []string{counted(ahead, "visitor", "visitors") + " are ahead of them."}
	}
}

func whenTheirTurn(s Status, r QueueRow) []string {
	switch called := r.Ready || r.AtDoor; {
	case s.Room != "open" || called:
		return nil
	case r.ETA >= time.Second && !r.Absent:
		return []string{fmt.Sprintf("At %s admissions a second their turn is expected in about %s.", rate(s.Admissions), span(r.ETA))}
	case s.Admissions < 0.05:
		return []string{"Nobody is being let in at present, so their turn cannot be told: look at the origin's latency."}
	}
	return nil
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
