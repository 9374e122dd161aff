package priority

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

const (
	// grantCookie is the cookie a grant travels in.
	grantCookie = "concert_priority"
	// Purpose is what Config.Grants is derived for.
	Purpose = "priority"
	// MaxWait bounds Config.Wait and Config.FormHold.
	MaxWait = time.Minute
	// NoLane as Config.LaneRank has no rank use the lane.
	NoLane = pipeline.NumRanks
)

// Config is what the stage is made of.
type Config struct {
	Line   line.Line       // required
	Grants *signed.Keyring // required; made for Purpose, and of an inline room for its id as well
	// Room is the inline room that the line is of; "" for the default one. Its
	// id stands behind the cookie's name.
	Room string

	// Cap is how many slots the lane has, beside the line's; 0 means a quarter
	// of the line's cap, but at least one.
	Cap int
	// LaneRank is the lowest rank that uses the lane: Member to NoLane.
	LaneRank pipeline.Rank
	// Wait is the longest wait for a slot of the lane: 0 to [MaxWait].
	Wait time.Duration
	// Forms has forms of visitors with a valid pass use the lane.
	Forms bool
	// FormHold is how long a form waits that is in memory as a whole, if that
	// is longer than Wait: 0 to [MaxWait].
	FormHold time.Duration
	// RetryAfter is what the senders of refused forms are told to wait, at
	// least a second; up to half as long again is added by chance.
	RetryAfter time.Duration

	CookiePath, CookieDomain string // attributes of the cookie; "" for none
	CookieSecure             bool   // always set Secure; otherwise only over TLS

	// HasPlace reports whether the visit brings the ticket of a place in line;
	// nil means that none does.
	HasPlace func(v *pipeline.Visit) bool
	// Admitted, when set, is told of every slot given here, and how long that
	// took.
	Admitted func(wait time.Duration)
	// Changed, when set, is told what to remember beyond the process, for
	// Restore. It must not wait.
	Changed func(Mark)
	// Log is told of headers that cannot be understood; nil discards it.
	Log *slog.Logger
}

// settings is a Config with what is made of it once.
type settings struct {
	Config
	cookieName string
	cookie     *cookies.Template
}

func newSettings(c Config) (*settings, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.HasPlace == nil {
		c.HasPlace = func(*pipeline.Visit) bool { return false }
	}
	if c.Changed == nil {
		c.Changed = func(Mark) {}
	}
	if c.Admitted == nil {
		c.Admitted = func(time.Duration) {}
	}
	// Max-Age differs from grant to grant and is written behind the others.
	name := signed.InRoom(grantCookie, c.Room)
	cookie, err := cookies.NewTemplate(&http.Cookie{
		Name: name, Path: c.CookiePath, Domain: c.CookieDomain,
		Secure: c.CookieSecure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	if err != nil {
		return nil, fmt.Errorf("priority: %w", err)
	}
	return &settings{c, name, cookie}, nil
}

// check reports every value the stage cannot work with.
func (c *Config) check() error {
	var problems []error
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("priority: "+format, args...))
	}
	if c.Line == nil {
		bad("no line")
	}
	if c.Grants == nil {
		bad("no keyring for grants")
	}
	if c.Cap < 0 {
		bad("the lane has %d slots: must not be negative", c.Cap)
	}
	if c.LaneRank < pipeline.Member || c.LaneRank > NoLane {
		bad("the lane's rank is %d: want %d to %d", c.LaneRank, pipeline.Member, NoLane)
	}
	if c.Wait < 0 || c.Wait > MaxWait {
		bad("the wait is %v: want 0 to %v", c.Wait, MaxWait)
	}
	if c.FormHold < 0 || c.FormHold > MaxWait {
		bad("the form hold is %v: want 0 to %v", c.FormHold, MaxWait)
	}
	if c.RetryAfter < time.Second {
		bad("retry-after %v is below a second", c.RetryAfter)
	}
	return errors.Join(problems...)
}
