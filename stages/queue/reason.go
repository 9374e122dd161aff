package queue

import (
	"strconv"
	"strings"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// Reasons why a wait is longer than a visitor was told before, in the status
// JSON.
const (
	reasonPaused   = "paused"   // the operator lets nobody in
	reasonReturned = "returned" // somebody ahead came back to their place
	reasonSlower   = "slower"   // as many are ahead as before, and they take longer, or nobody knows how long
)

// seenField is the query's field in which a poll says what its sender knows:
// the place they were told last and, behind a dot, the shortest wait in seconds
// they were told since the last reason. A server that remembered this of every
// visitor would remember it for nothing most of the time.
const seenField = "seen="

// reason says why the wait grew beyond what the poll's sender knows; empty when
// it did not, or they do not say.
func reason(query string, p line.Place, paused bool) string {
	if paused {
		return reasonPaused
	}
	position, eta, ok := parseSeen(query)
	switch now := page.Seconds(p.ETA); {
	case !ok:
		return ""
	case int64(p.Position) > position:
		return reasonReturned
	case eta >= 0 && (now < 0 || now > eta+eta/4+60):
		return reasonSlower
	}
	return ""
}

// reason is the reason that is told: none for a place that was lost where
// others may have been moved ahead as well as have come back.
func (s *settings) reason(query string, p line.Place, paused bool) string {
	why := reason(query, p, paused)
	if why == reasonReturned && s.cfg.Overtaken {
		return ""
	}
	return why
}

// parseSeen finds a query's seen field. eta is -1 when it does not say.
func parseSeen(query string) (position, eta int64, ok bool) {
	for query != "" {
		var field string
		field, query, _ = strings.Cut(query, "&")
		value, found := strings.CutPrefix(field, seenField)
		if !found {
			continue
		}
		place, wait, told := strings.Cut(value, ".")
		position, err := strconv.ParseInt(place, 10, 32)
		if err != nil {
			return 0, -1, false
		}
		if eta, err = strconv.ParseInt(wait, 10, 32); err != nil || !told || eta < 0 {
			eta = -1
		}
		return position, eta, true
	}
	return 0, -1, false
}
