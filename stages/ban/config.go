package ban

import (
	"fmt"
	"net/http"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/paths"
)

// Config is what the stage is made of, beside the registry.
type Config struct {
	// Paths finds the ban paths: those with the value true. nil has none.
	Paths *paths.Table[bool]
	// Ticket has the name and the attributes of the cookie that refusals
	// clear; nil clears none.
	Ticket *http.Cookie
}

// settings is a Config with what is made of it once.
type settings struct {
	paths  *paths.Table[bool]
	ticket string      // name of the cookie to clear; "" for none
	clear  [2][]string // its Set-Cookie header, without and with TLS
}

func newSettings(c Config) (*settings, error) {
	s := &settings{paths: c.Paths}
	if c.Ticket == nil {
		return s, nil
	}
	t, err := cookies.NewTemplate(c.Ticket)
	if err != nil {
		return nil, fmt.Errorf("ban: %w", err)
	}
	s.ticket = c.Ticket.Name
	s.clear = [2][]string{{t.Clear(false)}, {t.Clear(true)}}
	return s, nil
}

// clearTicket returns the header that clears the request's ticket, or nil when
// it brought none.
func (s *settings) clearTicket(r *http.Request) []string {
	if s.ticket == "" {
		return nil
	}
	for range cookies.Each(r.Header, s.ticket) {
		if r.TLS != nil {
			return s.clear[1]
		}
		return s.clear[0]
	}
	return nil
}
