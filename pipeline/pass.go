package pipeline

// Pass is what the visit's admission pass turned out to be.
type Pass struct {
	State PassState
	ID    [16]byte // valid when State is PassValid or PassExpired
}

// PassState classifies an admission pass.
type PassState uint8

// The states, from no pass to a good one.
const (
	PassMissing PassState = iota
	PassStale             // signed with a key that is not ours (any more)
	PassForged            // a bad signature
	PassExpired           // authentic, but over
	PassValid
)
