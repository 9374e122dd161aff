package queue

import (
	"errors"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// languageAge is how long a picked language is remembered, in seconds.
const languageAge = 365 * 24 * 60 * 60

// cookieSet writes the stage's cookies.
type cookieSet struct {
	ticket *cookies.Template
	probe  [2][]byte // whole lines, without and with Secure
	// language is remembered far longer than a place in line.
	language *cookies.Template
}

func newCookieSet(c Config) (cookieSet, error) {
	model := http.Cookie{
		Path: c.CookiePath, Domain: c.CookieDomain, MaxAge: int(c.TicketTTL / time.Second),
		Secure: c.CookieSecure, SameSite: http.SameSiteLaxMode,
	}
	if model.Path == "" {
		model.Path = "/"
	}
	probe, ticket, lang := model, model, model
	lang.Name, lang.HttpOnly, lang.MaxAge = pipeline.LanguageCookie, true, languageAge
	probe.Name = probeCookie
	ticket.Name, ticket.HttpOnly = signed.InRoom(TicketCookie, c.Room), true
	probeText, err := cookies.NewTemplate(&probe)
	ticketText, err2 := cookies.NewTemplate(&ticket)
	langText, err3 := cookies.NewTemplate(&lang)
	if err := errors.Join(err, err2, err3); err != nil {
		return cookieSet{}, err
	}
	return cookieSet{ticketText, [2][]byte{[]byte(probeText.Line("1", false)), []byte(probeText.Line("1", true))}, langText}, nil
}

// setCookies sends the visitor's ticket, and the probe that shows the page's
// script whether the browser kept both. The ticket is signed, unless it came as
// value and that is how it would be signed now.
func (s *settings) setCookies(v *pipeline.Visit, t line.Ticket, value string) {
	secure := v.R.TLS != nil
	var buf [512]byte
	text := s.cookies.ticket.Begin(buf[:0])
	if s.cfg.Tickets.Signs(value) {
		text = append(text, value...)
	} else {
		text = s.appendTicket(text, t)
	}
	text = s.cookies.ticket.End(text, secure)
	v.AddField("Set-Cookie", text)
	v.AddField("Set-Cookie", s.cookies.probe[secured(secure)])
}

// secured is the place of one of two: without Secure, and with it.
func secured(secure bool) int {
	if secure {
		return 1
	}
	return 0
}

// clearTicket has the browser forget the ticket.
func (s *settings) clearTicket(v *pipeline.Visit) {
	h := v.W.Header()
	h["Set-Cookie"] = append(h["Set-Cookie"], s.cookies.ticket.Clear(v.R.TLS != nil))
}
