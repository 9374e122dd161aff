//go:build !unix

package upstream

// ownClient: an idle connection cannot be looked at, so a POST would meet one
// the origin has closed. net/http's transport reads ahead on all of them.
const ownClient = false

// turn and quiet are never called.
func (l *link) turn(uintptr) bool { return true }

func quiet(uintptr) bool { return false }
