package paths

import "strings"

// Concert's own paths. Nothing under them ever reaches the origin.
const (
	QueueStatus = "/queue/status" // where a waiting page polls
	QueueLeave  = "/queue/leave"  // where a visitor gives up a place
	QueueReturn = "/queue/return" // where a visitor picks a language or shows that cookies work
	roomTree    = "/_room"        // operations: the path itself and all below
	concertTree = "/_concert"     // as roomTree
)

// What machines ask all the time below roomTree.
const (
	RoomHealth  = roomTree + "/healthz"
	RoomReady   = roomTree + "/readyz"
	RoomStats   = roomTree + "/stats"
	RoomMetrics = roomTree + "/metrics"
)

// Polled reports whether clean is a path of Concert's own that machines ask for
// again and again. What they are told, logs are better off without.
func Polled(clean string) bool {
	switch clean {
	case QueueStatus, RoomHealth, RoomReady, RoomStats, RoomMetrics:
		return true
	}
	return false
}

// Reserved reports whether any reading of p is one of Concert's own paths. It
// is about the path alone: it holds for every method. Capitals and a trailing
// slash make no difference. A reserved path must be answered here, but only one
// whose Kind is [Plain] and whose Clean is exact should be served: in front of
// Concert somebody may have closed `/_room/` in that spelling only.
func Reserved(p Path) bool {
	own := false
	p.each(func(reading string) bool {
		own = isOwn(reading)
		return !own
	})
	return own
}

// isOwn reports whether the reading s is one of Concert's own paths.
func isOwn(s string) bool {
	if len(s) < len(roomTree) {
		return false
	}
	switch s[1] {
	case 'q', 'Q':
		s = strings.TrimSuffix(s, "/")
		return strings.EqualFold(s, QueueStatus) || strings.EqualFold(s, QueueLeave) || strings.EqualFold(s, QueueReturn)
	case '_':
		return inTree(s, roomTree) || inTree(s, concertTree)
	}
	return false
}

// inTree reports whether s is root or below it.
func inTree(s, root string) bool {
	return len(s) >= len(root) && strings.EqualFold(s[:len(root)], root) &&
		(len(s) == len(root) || s[len(root)] == '/')
}
