package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/operations"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// Banned tells whether an address may not visit at present, and until when; the
// zero time is for ever.
type Banned func(a netip.Addr, now time.Time) (until time.Time, banned bool)

// Config is what the handlers are made of. All but Limits, Exempt, Banned, Look,
// Now and Log is needed.
type Config struct {
	Store    gate.Store
	Ring     *token.Ring
	Resolver *clientip.Resolver
	Limits   Limits
	Exempt   func(netip.Addr) bool // from the limits; nil: nobody is
	Banned   Banned                // nil: nobody is
	Look     page.Look             // of the waiting page
	Token    string                // the operators' bearer token; NewOperators needs it
	Now      func() time.Time      // nil: time.Now
	Log      *slog.Logger          // nil: discarded
}

func (c *Config) complete() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
}

// Public serves visitors and protected sites. Use [NewPublic].
type Public struct {
	Config
	table
	joins    *limiter
	requests *limiter
	pages    *page.Set
}

// NewPublic makes the handler.
func NewPublic(c Config) (*Public, error) {
	c.complete()
	pages, err := page.Room(c.Look)
	if err != nil {
		return nil, err
	}
	p := &Public{Config: c, pages: pages, joins: newLimiter(c.Limits.Joins, time.Minute), requests: newLimiter(c.Limits.Requests, time.Second)}
	p.table = newTable(p.Log, []route{
		{"POST", "/api/v1/queue/join", p.join},
		{"GET", "/api/v1/queue/status", p.status},
		{"POST", "/api/v1/queue/resume", p.resume},
		{"POST", "/api/v1/queue/token", p.exchange},
		{"GET", "/api/v1/queue/messages", p.messages},
		{"POST", "/api/v1/validate", p.validate},
		{"GET", "/.well-known/jwks.json", p.keys},
		{"GET", "/{$}", p.page},
	})
	return p, nil
}

// ServeHTTP implements http.Handler. Whoever is banned gets nothing else.
func (p *Public) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.Banned != nil {
		now := p.Now()
		if until, banned := p.Banned(p.Resolver.Resolve(r.RemoteAddr, r.Header).Addr, now); banned {
			writeFault(w, banFault(until, now), p.Log)
			return
		}
	}
	p.table.ServeHTTP(w, r)
}

// banFault is how the proxy answers banned clients, too.
func banFault(until, now time.Time) *fault {
	reason, retry := pipeline.Banned, until.Sub(now)
	if until.IsZero() {
		reason, retry = pipeline.Blocked, 0
	}
	return &fault{status: reason.Status(), code: reason.Code(), text: reason.DefaultText().Error, retry: retry}
}

// place is what a visitor is told of a ticket.
type place struct {
	QueueToken   string `json:"queue_token"`
	Ticket       uint64 `json:"ticket"`
	PollAfterSec int    `json:"poll_after_sec"`
	ResumeSecret string `json:"resume_secret,omitempty"`
}

// placeOf makes the token for a ticket's present turn.
func (p *Public) placeOf(st gate.Status, now time.Time) (place, error) {
	raw, err := p.Ring.Queue(&st.Room, st.Ticket, now)
	return place{QueueToken: raw, Ticket: st.Ticket.Number, PollAfterSec: seconds(st.PollAfter)}, err
}

// seconds rounds up.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func (p *Public) join(w http.ResponseWriter, r *http.Request) error {
	if !p.limited(w, r, p.joins) {
		return nil
	}
	body := struct {
		Room string `json:"room"`
	}{r.URL.Query().Get("room")}
	if err := readJSON(r, &body, false); err != nil {
		return err
	}
	if body.Room == "" {
		return badRequest(`say which room: {"room": "ID"}`)
	}
	now := p.Now()
	st, err := p.Store.Join(r.Context(), now, body.Room)
	if err != nil {
		return err
	}
	answer, err := p.placeOf(st, now)
	if err != nil {
		return err
	}
	answer.ResumeSecret = p.Ring.Resume(st.Room.ID, st.Ticket)
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// bearer is the queue token of a request.
func (p *Public) bearer(r *http.Request, now time.Time) (room string, t gate.Ticket, err error) {
	raw, sent := operations.Bearer(r.Header)
	if !sent || raw == "" {
		return "", t, &fault{status: http.StatusUnauthorized, code: "token_missing", text: "send the queue token: Authorization: Bearer …"}
	}
	return p.Ring.ParseQueue(raw, now)
}

func (p *Public) status(w http.ResponseWriter, r *http.Request) error {
	if !p.limited(w, r, p.requests) {
		return nil
	}
	now := p.Now()
	room, t, err := p.bearer(r, now)
	if err != nil {
		return err
	}
	st, err := p.Store.Poll(r.Context(), now, room, t)
	if err != nil {
		return err
	}
	next, err := p.placeOf(st, now)
	if err != nil {
		return err
	}
	answer := struct {
		place
		Admitted bool       `json:"admitted"`
		Position uint64     `json:"position"`
		Ahead    uint64     `json:"ahead"`
		ETASec   int        `json:"eta_sec"` // -1: cannot be told
		State    gate.State `json:"room_status"`
	}{next, st.Admitted, st.Position, st.Ahead, -1, st.State}
	if st.ETA >= 0 {
		answer.ETASec = seconds(st.ETA)
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

func (p *Public) resume(w http.ResponseWriter, r *http.Request) error {
	if !p.limited(w, r, p.joins) {
		return nil
	}
	var body struct {
		ResumeSecret string `json:"resume_secret"`
		Room         string `json:"room"` // need not be sent: the secret says it
	}
	if err := readJSON(r, &body, false); err != nil {
		return err
	}
	room, t, err := p.Ring.ParseResume(body.ResumeSecret)
	if err != nil {
		return err
	}
	if body.Room != "" && body.Room != room {
		return badRequest("the secret is of another room")
	}
	now := p.Now()
	st, err := p.Store.Resume(r.Context(), now, room, t)
	if err != nil {
		return err
	}
	answer, err := p.placeOf(st, now)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}
