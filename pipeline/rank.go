package pipeline

import "strings"

// Rank is what the application behind Concert says a visitor is to it. Higher
// ranks are served sooner while the site is busy.
type Rank uint8

// The ranks, lowest first.
const (
	Guest      Rank = iota // anonymous
	Member                 // signed in, nothing bought yet
	Prospect               // on a buying page
	Customer               // has bought before
	Subscriber             // has an active subscription
	Checkout               // payment in progress
	Staff                  // operators and support
	NumRanks
)

var rankNames = [NumRanks]string{"guest", "member", "prospect", "customer", "subscriber", "checkout", "staff"}

// String returns the rank's name as the Concert-Priority header spells it.
func (r Rank) String() string {
	if r >= NumRanks {
		return "unknown"
	}
	return rankNames[r]
}

// ParseRank reads a rank's name, whatever its case.
func ParseRank(name string) (Rank, bool) {
	for r, known := range rankNames {
		if strings.EqualFold(name, known) {
			return Rank(r), true
		}
	}
	return Guest, false
}
