package queue

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// Paths of the endpoints. They are of the class [pipeline.Operations].
const (
	StatusPath = paths.QueueStatus
	LeavePath  = paths.QueueLeave
	returnPath = paths.QueueReturn
)

// Names of the cookies.
const (
	TicketCookie = "room_ticket"
	probeCookie  = "room_probe" // readable by scripts: tells the page that cookies work
)

// TicketPurpose is the purpose that Config.Tickets is derived for.
const TicketPurpose = "ticket"

// Config is what a Stage is made of.
type Config struct {
	// Room is the inline room that the line is of; "" for the default one. Its
	// id stands behind the name of the ticket's cookie, and in the addresses
	// that a page of the room asks.
	Room    string
	Line    line.Line       // required
	Tickets *signed.Keyring // required; see TicketPurpose. Of an inline room for its id as well
	// Settled says that the secret of Tickets was there before this process, so
	// that a ticket of another key is made up, from the start on.
	Settled bool
	// TicketTTL is the sliding lifetime of a ticket and of its cookie, at least
	// a second: what the line's settings say.
	TicketTTL time.Duration

	CookiePath   string // empty means /
	CookieDomain string // empty: this host only
	CookieSecure bool   // always set Secure; otherwise only on TLS connections

	// APIJSON answers those who cannot show a page with JSON; otherwise
	// everybody gets the page.
	APIJSON bool
	// RetryAfter is what programs are told to wait, at least a second.
	RetryAfter time.Duration
	// StatusCode is the waiting page's: 200, 202, 429 or 503; 0 means 200.
	StatusCode int
	// HTML replaces the built-in page when it is not nil; see page.Custom.
	HTML []byte
	// Market, when set, sells places nearer the front, and SkipURL is where
	// visitors pay: safe within an attribute, but for ampersands. Empty: no link.
	Market  Market
	SkipURL string
	// Overtaken says that visitors may be moved ahead of others, by rank or for
	// money.
	Overtaken bool
	// Look is what the operator adds to the built-in pages. Its message is also
	// in the status JSON, for custom pages and programs.
	Look page.Look
	// CrawlerAnswer is what search crawlers get while the site is busy.
	CrawlerAnswer CrawlerAnswer

	// Unlimited, when set, lifts the limit of places per client for an address
	// that many people share.
	Unlimited func(netip.Addr) bool
	// Recheck, when set, judges a visit again whose ticket was taken away while
	// it stood at the door: its client may have been banned meanwhile.
	Recheck func(*pipeline.Visit) (pipeline.Verdict, error)
	// Admitted, when set, is told of every admission and how long it took: from
	// the ticket's issue, or from the request when it brought none.
	Admitted func(wait time.Duration)
	// Placed, when set, is told of every visitor who is answered with a place.
	Placed func(v *pipeline.Visit, t line.Ticket)
	// Fronted, when set, is told of every visitor who is given a new place at
	// the front for being a VIP.
	Fronted func(v *pipeline.Visit, t line.Ticket)
	// Removed, when set, reports whether an operator took a ticket out of the
	// line lately. Its owner is told so once, before anything else.
	Removed func(t line.Ticket) bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func newSettings(common *shared, c Config) (*settings, error) {
	if c.StatusCode == 0 {
		c.StatusCode = http.StatusOK
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	set, err := newCookieSet(c)
	if err != nil {
		return nil, fmt.Errorf("queue: prepare cookies: %w", err)
	}
	c.Look.Room = c.Room
	s := &settings{shared: common, cfg: c, cookies: set, refusals: newRefusals(c.RetryAfter), ticketCookie: signed.InRoom(TicketCookie, c.Room)}
	s.hint = []byte(`{"hint":"keep the ` + s.ticketCookie + ` cookie and retry to hold your position","queued":true,"retry_after_seconds":`)
	s.statusURL = []byte(`,"status_url":"` + page.InRoom(StatusPath, c.Room) + `"`)
	if !c.Settled {
		s.lenientUntil = c.Now().Add(c.TicketTTL)
	}
	s.messages = newMessages(c.Look)
	s.retry = pipeline.Number(int(page.Seconds(c.RetryAfter)))
	if err := s.preparePages(); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Config) check() error {
	var problems []error
	if c.Line == nil {
		problems = append(problems, errors.New("queue: no line"))
	}
	if c.Tickets == nil {
		problems = append(problems, errors.New("queue: no keyring for tickets"))
	}
	if c.TicketTTL < time.Second {
		problems = append(problems, fmt.Errorf("queue: ticket lifetime %v is below a second", c.TicketTTL))
	}
	if c.RetryAfter < time.Second {
		problems = append(problems, fmt.Errorf("queue: retry-after %v is below a second", c.RetryAfter))
	}
	switch c.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusTooManyRequests, http.StatusServiceUnavailable:
	default:
		problems = append(problems, fmt.Errorf("queue: status code %d of the waiting page is none of 200, 202, 429 and 503", c.StatusCode))
	}
	if c.CrawlerAnswer > CrawlersWait {
		problems = append(problems, fmt.Errorf("queue: there is no answer %d to crawlers", c.CrawlerAnswer))
	}
	if err := c.Look.Check(); err != nil {
		problems = append(problems, fmt.Errorf("queue: %w", err))
	}
	return errors.Join(problems...)
}

// preparePages makes the pages, in every language.
func (s *settings) preparePages() error {
	look := s.cfg.Look
	farewell, err := page.Farewell(look)
	if err != nil {
		return fmt.Errorf("queue: prepare the farewell: %w", err)
	}
	noCookies, err := page.NoCookies(look)
	if err != nil {
		return fmt.Errorf("queue: prepare the page about cookies: %w", err)
	}
	s.farewell, s.noCookies = newDocuments(farewell), newDocuments(noCookies)
	if s.cfg.HTML != nil {
		s.page = newDocuments(page.Custom(s.cfg.HTML))
		return nil
	}
	waiting, err := page.BuiltIn(look)
	if err != nil {
		return fmt.Errorf("queue: prepare the waiting page: %w", err)
	}
	s.page = newDocuments(waiting)
	return nil
}
