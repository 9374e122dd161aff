package pass

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/signed"
)

const (
	// CookieName is the cookie a pass travels in, of the default room.
	CookieName = "concert_admit"
	// Purpose is what the keyring is derived for.
	Purpose = "pass"
	// Keep is how long a browser keeps a pass that has expired: as long as the
	// longest grant that may be bound to its id.
	Keep = 24 * time.Hour
	// MaxTTL bounds a pass's life; its seconds travel in 32 bits.
	MaxTTL = math.MaxUint32 * time.Second
)

// Config is what the stage is made of.
type Config struct {
	Keyring *signed.Keyring // made for Purpose, and of an inline room for its id as well
	// Room is the inline room that the passes are of; "" for the default one.
	// Its id stands behind the cookie's name.
	Room string
	// TTL is the life of a pass from each time it is signed: one second to
	// [MaxTTL], less what is over whole seconds. A change is for passes issued
	// afterwards.
	TTL time.Duration
	// CookiePath and CookieDomain are attributes of the cookie, "" for none.
	CookiePath, CookieDomain string
	// CookieSecure marks the cookie Secure; one set over TLS always is.
	CookieSecure bool
}

// check reports every value the stage cannot work with.
func (c Config) check() error {
	var problems []error
	if c.Keyring == nil {
		problems = append(problems, errors.New("pass: no keyring given"))
	}
	if c.TTL < time.Second || c.TTL > MaxTTL {
		problems = append(problems, fmt.Errorf("pass: the lifetime is %v: want %v to %v", c.TTL, time.Second, MaxTTL))
	}
	return errors.Join(problems...)
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
	name := signed.InRoom(CookieName, c.Room)
	cookie, err := cookies.NewTemplate(&http.Cookie{
		Name:     name,
		Path:     c.CookiePath,
		Domain:   c.CookieDomain,
		MaxAge:   int((c.TTL + Keep) / time.Second),
		Secure:   c.CookieSecure,
		HttpOnly: true,
		SameSite: http.SameSiteLaxMode,
	})
	if err != nil {
		return nil, fmt.Errorf("pass: %w", err)
	}
	return &settings{c, name, cookie}, nil
}
