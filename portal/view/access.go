package view

import (
	"time"

	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/persist"
)

// AccessPage is who is signed in, and what was done.
type AccessPage struct {
	Sessions []Session
	Acts     []persist.Act // newest first
}

// Session is one sign-in that is in force.
type Session struct {
	ID      string // to revoke it by; says nothing about the cookie
	Role    string // operator or viewer
	Client  string // the address it came from
	Owner   *ipinfo.Details
	Agent   string
	Began   time.Time
	Seen    time.Time
	Until   time.Time
	Current bool // it is the one that looks
}

// SignIn is the page that asks for the password.
type SignIn struct {
	Name    string
	Version string
	Wrong   bool          // the last attempt's password was wrong
	Locked  time.Duration // no attempt is taken for this long; 0: at once
	Ended   bool          // a session ended; say so
}
