package protect

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/signed"
)

// cookieName is the name of the session cookie unless [Options] has another.
const cookieName = "concert_access"

// Options say which room a site is behind.
type Options struct {
	// WaitingRoomURL is where visitors without access are sent: the public
	// address of concert gate. When it or Room is empty nobody is; only tokens
	// that are presented are checked then.
	WaitingRoomURL string
	Room           string // the room's id
	// Audience is what access tokens must be for; empty means Room.
	Audience string
	// JWKSURL has the keys that tokens are checked with; empty means
	// /.well-known/jwks.json at WaitingRoomURL.
	JWKSURL string
	// ValidateURL is the waiting room's /api/v1/validate, to take each token
	// once; empty takes it until it expires.
	ValidateURL string
	// SessionKey signs the session cookie, at least 32 bytes. Instances of a
	// site share it. Nil is a random one: sessions end with the process then.
	SessionKey []byte
	Cookie     string // name of the session cookie; empty means cookieName
	// SecureCookie marks the cookie Secure also when the request did not come
	// over TLS: for a site behind a proxy that speaks TLS.
	SecureCookie bool

	Client *http.Client     // for keys and validation; nil: one with a time limit of 5 s
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: discarded
}

// complete fills in what is empty. The error joins what is wrong.
func (o *Options) complete() error {
	if o.Audience == "" {
		o.Audience = o.Room
	}
	if o.Cookie == "" {
		o.Cookie = cookieName
	}
	if o.JWKSURL == "" && o.WaitingRoomURL != "" {
		o.JWKSURL = strings.TrimSuffix(o.WaitingRoomURL, "/") + "/.well-known/jwks.json"
	}
	if o.SessionKey == nil {
		o.SessionKey = make([]byte, 32)
		rand.Read(o.SessionKey) // never fails
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 5 * time.Second}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o.check()
}

func (o *Options) check() error {
	var errs []error
	web := func(name, text string) {
		if u, err := url.Parse(text); text != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
			errs = append(errs, fmt.Errorf("the option %s is %q: want an http or https URL", name, text))
		}
	}
	web("WaitingRoomURL", o.WaitingRoomURL)
	web("JWKSURL", o.JWKSURL)
	web("ValidateURL", o.ValidateURL)
	switch {
	case o.Audience == "":
		errs = append(errs, errors.New("the option Audience is empty: say what tokens are for, or name the Room"))
	case o.Audience == gate.QueueAudience:
		errs = append(errs, fmt.Errorf("the option Audience %q is that of queue tokens", o.Audience))
	}
	if o.JWKSURL == "" {
		errs = append(errs, errors.New("the option JWKSURL is empty: say where the keys are, or name the WaitingRoomURL"))
	}
	if (&http.Cookie{Name: o.Cookie}).Valid() != nil {
		errs = append(errs, fmt.Errorf("the option Cookie %q is no name for a cookie", o.Cookie))
	}
	if len(o.SessionKey) < signed.MinSecret {
		errs = append(errs, fmt.Errorf("the option SessionKey has %d bytes, want at least %d", len(o.SessionKey), signed.MinSecret))
	}
	return errors.Join(errs...)
}
