package pipeline

// Strike names an act that counts against a client.
type Strike uint8

// The acts.
const (
	StrikeForgedPass Strike = iota
	StrikeAdminToken        // a wrong admin token
	StrikeUserPool          // the per-pass asset pool is exhausted
	StrikeChurn             // queued without an authentic ticket
	StrikeResets            // a connection's requests were taken back en masse
	NumStrikes
)

var strikeNames = [NumStrikes]string{"forged-pass", "admin-token", "user-pool", "churn", "resets"}

// String returns the strike's name as metrics print it.
func (s Strike) String() string { return strikeNames[s] }
