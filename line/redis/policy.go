package redisline

// Policy is what an instance does while Redis is away.
type Policy uint8

// The policies.
const (
	// Share admits people with the slots that are lent to the instance, for as
	// long as nobody else can be lent them: while Redis refuses connections, as
	// it does while it restarts, without end; while it is merely silent, so that
	// it may be there for others, for a few seconds.
	Share Policy = iota
	// Closed has everybody wait.
	Closed
	// Open lets everybody pass, and counts them.
	Open
)

// String is the policy as it is set.
func (p Policy) String() string { return [...]string{"share", "closed", "open"}[p] }
