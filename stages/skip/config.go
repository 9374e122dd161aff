package skip

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/signed"
)

const (
	// cookieName is the cookie a VIP pass travels in.
	cookieName = "room_pass"
	// RefPurpose is what Config.Refs is derived for.
	RefPurpose = "skip-ref"
	// PassPurpose is what Config.Passes is derived for.
	PassPurpose = "vip"
	// MaxPrice bounds Config.Rate and Config.Surge.
	MaxPrice = 1e6
	// MaxPassTTL bounds Config.PassTTL.
	MaxPassTTL = 24 * time.Hour
	// MaxSales is how many payments, and how many passes to be delivered, are
	// remembered.
	MaxSales = 1 << 14
)

// Config is what the stage is made of.
type Config struct {
	Line   line.Line       // required
	Refs   *signed.Keyring // required; made for RefPurpose
	Passes *signed.Keyring // required; made for PassPurpose

	// TicketCookie is the cookie a ticket travels in, and Ticket reads its
	// value; both are required.
	TicketCookie string
	Ticket       func(value string) (t line.Ticket, authentic bool)

	// Rate is the price of a place, Surge what is added to it for each ticket
	// in line: 0 to [MaxPrice]. With both 0 nothing is for sale.
	Rate, Surge float64
	// PassTTL is the life of a VIP pass, up to [MaxPassTTL]; 0 gives out none.
	PassTTL time.Duration

	CookiePath, CookieDomain string // attributes of the cookie; "" for none
	CookieSecure             bool   // always set Secure; otherwise only over TLS

	// Sold, when set, is told of every promotion before the call is answered.
	// Those with a payment are for Restore.
	Sold func(Sale)
	// Log is told of every promotion; nil discards it.
	Log *slog.Logger
}

// settings is a Config with what is made of it once.
type settings struct {
	Config
	cookie *cookies.Template
}

func newSettings(c Config) (*settings, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	// Max-Age differs from pass to pass and is written behind the others.
	cookie, err := cookies.NewTemplate(&http.Cookie{
		Name: cookieName, Path: c.CookiePath, Domain: c.CookieDomain,
		Secure: c.CookieSecure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	if err != nil {
		return nil, fmt.Errorf("skip: %w", err)
	}
	return &settings{c, cookie}, nil
}

// check reports every value the stage cannot work with.
func (c *Config) check() error {
	var problems []error
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("skip: "+format, args...))
	}
	if c.Line == nil {
		bad("no line")
	}
	if c.Refs == nil || c.Passes == nil {
		bad("no keyring for references or for passes")
	}
	if c.TicketCookie == "" || c.Ticket == nil {
		bad("no way to read tickets")
	}
	for _, price := range []float64{c.Rate, c.Surge} {
		if math.IsNaN(price) || price < 0 || price > MaxPrice {
			bad("a price is %v: want 0 to %v", price, float64(MaxPrice))
		}
	}
	if c.PassTTL < 0 || c.PassTTL > MaxPassTTL || c.PassTTL%time.Second != 0 {
		bad("passes last %v: want whole seconds from 0 to %v", c.PassTTL, MaxPassTTL)
	}
	return errors.Join(problems...)
}
