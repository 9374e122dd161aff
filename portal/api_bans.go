package portal

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/abuse/api"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/portal/view"
)

// Bounds of a ban's length.
const (
	minBan = time.Minute
	maxBan = api.MaxDuration
)

// Bans are the bans in force.
type Bans struct {
	Enabled   bool      `json:"enabled"` // while the registry is off, bans refuse nobody
	Tracked   int       `json:"tracked"`
	Ranges    int       `json:"ranges"`
	Persisted bool      `json:"persisted"` // they outlive the process
	Total     int       `json:"total"`     // that match
	Bans      []api.Ban `json:"bans"`
}

// apiBans lists the bans in force.
func apiBans(r *request) (any, error) {
	offset, err := r.number("offset", 0)
	if err != nil {
		return nil, err
	}
	bans, stats := r.p.Abuse.List(abuse.Filter{Text: r.query.Get("q")}, r.now), r.p.Abuse.Stats(r.now)
	out := Bans{
		Enabled: r.p.Abuse.Enabled(), Tracked: stats.Tracked, Ranges: stats.RangeBans,
		Persisted: r.p.Data.Path() != "", Total: len(bans), Bans: []api.Ban{},
	}
	bans = bans[min(offset, len(bans)):]
	for _, b := range bans[:min(len(bans), api.MaxLimit)] {
		out.Bans = append(out.Bans, api.Shown(b, r.now))
	}
	return out, nil
}

// BanOrder is the body of POST /api/bans.
type BanOrder struct {
	Client    string `json:"client"`   // an address or a range
	Duration  string `json:"duration"` // such as 30m or 24h; none when permanent
	Permanent bool   `json:"permanent"`
	Note      string `json:"note"`
}

// BanMade answers it.
type BanMade struct {
	api.Ban
	Dropped      int      `json:"dropped"`       // visitors in line who were removed
	ExemptWithin []string `json:"exempt_within"` // networks inside that stay reachable
	Undo         string   `json:"undo"`          // for POST /api/undo
}

// readOrder checks everything but the client.
func readOrder(in BanOrder) (abuse.Order, error) {
	o := abuse.Order{Permanent: in.Permanent, Note: in.Note}
	switch {
	case len(in.Note) > api.MaxNote:
		return o, badRequest("the note is longer than %d bytes", api.MaxNote)
	case in.Permanent && in.Duration != "":
		return o, badRequest("a permanent ban has no duration: leave one of them out")
	case in.Permanent:
		return o, nil
	}
	var err error
	if o.For, err = time.ParseDuration(in.Duration); err != nil || o.For < minBan || o.For > maxBan {
		return o, badRequest("duration %s: want one such as 30m or 24h, from 1m to %gh", quoted(in.Duration), maxBan.Hours())
	}
	return o, nil
}

// apiBan bans a client or a range.
func apiBan(r *request) (any, error) {
	var in BanOrder
	if err := r.read(&in); err != nil {
		return nil, err
	}
	order, err := readOrder(in)
	if err != nil {
		return nil, err
	}
	if order.Client, err = abuse.ParseClient(in.Client); err != nil {
		return nil, badRequest("client %w", err)
	}
	var out BanMade
	err = r.p.Concert.Act(func() error {
		before := r.p.Line.Stats(r.now).RemovedTotal
		b, undo, err := r.ban(order, false)
		if err != nil {
			return err
		}
		out = BanMade{
			Ban: api.Shown(b, r.now), Dropped: int(r.p.Line.Stats(r.now).RemovedTotal - before),
			ExemptWithin: texts(r.p.Abuse.ExemptWithin(b.Client)), Undo: undo,
		}
		return nil
	})
	return out, err
}

// ban carries an order out, inside Act. With extend, a ban that holds for longer
// stays.
func (r *request) ban(o abuse.Order, extend bool) (*abuse.Ban, string, error) {
	if !r.p.Abuse.Enabled() {
		return nil, "", problemf(http.StatusConflict, "the abuse registry is off: turn on -abuse first, so that bans are enforced")
	}
	before := r.p.banOf(o.Client, r.now)
	if extend && before != nil && (before.Permanent() || !o.Permanent && before.Remaining(r.now) > o.For) {
		return before, "", nil
	}
	o.By = r.by().InWords()
	b, err := r.p.Abuse.Ban(o, r.now)
	switch {
	case errors.Is(err, abuse.ErrExempt), errors.Is(err, abuse.ErrTooMany):
		return nil, "", &Problem{http.StatusConflict, err}
	case err != nil:
		return nil, "", &Problem{http.StatusBadRequest, err}
	}
	undo := r.p.undos.add(undo{client: b.Client, before: before, after: b})
	return b, undo, r.saveBans()
}

func (r *request) saveBans() error {
	if err := r.p.Concert.SaveBans(r.by()); err != nil {
		return &Problem{http.StatusInternalServerError, err}
	}
	return nil
}

// banOf is the ban in force of exactly this client or range, nil for none.
func (p *Portal) banOf(client netip.Prefix, now time.Time) *abuse.Ban {
	client, err := abuse.Canonical(client)
	if err != nil {
		return nil
	}
	for _, b := range p.Abuse.List(abuse.Filter{Client: client}, now) {
		if b.Client == client {
			return b
		}
	}
	return nil
}

// Unbanned answers DELETE /api/bans.
type Unbanned struct {
	Unbanned string `json:"unbanned"`       // the client
	Undo     string `json:"undo,omitempty"` // for POST /api/undo; none when no ban was in force
}

// apiUnban lifts a ban and forgets the client.
func apiUnban(r *request) (any, error) {
	client, err := abuse.ParseClient(r.query.Get("client"))
	if err != nil {
		return nil, badRequest("client %w", err)
	}
	out := Unbanned{Unbanned: clientip.FormatKey(client)}
	err = r.p.Concert.Act(func() error {
		if !r.p.Abuse.Enabled() {
			return problemf(http.StatusConflict, "the abuse registry is off: turn on -abuse first")
		}
		before := r.p.banOf(client, r.now)
		known, err := r.p.Abuse.Lift(client, r.by().InWords(), r.now)
		switch {
		case err != nil:
			return &Problem{http.StatusBadRequest, err}
		case !known:
			return problemf(http.StatusNotFound, "%s is not banned, and nothing is remembered of it", out.Unbanned)
		}
		if before != nil {
			out.Undo = r.p.undos.add(undo{client: before.Client, before: before})
		}
		return r.saveBans()
	})
	return out, err
}

func texts(prefixes []netip.Prefix) []string {
	out := make([]string, len(prefixes))
	for i, p := range prefixes {
		out[i] = clientip.FormatKey(p)
	}
	return out
}

// apiPreview says what a ban would do.
func apiPreview(r *request) (any, error) {
	client, err := abuse.ParseClient(r.query.Get("client"))
	if err != nil {
		return nil, badRequest("client %w", err)
	}
	out := view.BanPreview{
		Client: clientip.FormatKey(client), Range: client != clientip.KeyOf(client.Addr()),
		ExemptWithin: texts(r.p.Abuse.ExemptWithin(client)), Self: client.Contains(r.client),
	}
	if b := r.p.banOf(client, r.now); b != nil {
		out.Current = "permanent"
		if !b.Permanent() {
			out.Current = stamp(b.Until).Format(time.RFC3339)
		}
	}
	if !out.Range && r.p.Abuse.Exempt(client.Addr()) || len(out.ExemptWithin) == 1 && out.ExemptWithin[0] == out.Client {
		out.Problem = abuse.ErrExempt.Error()
	} else if !r.p.Abuse.Enabled() {
		out.Problem = "the abuse registry is off, so bans are not enforced"
	}
	spared := r.p.Abuse.ExemptWithin(client)
	_, err = r.p.search(r.Context(), r.now, func(o *place) bool {
		if within(o.Client, client) && !anyWithin(o.Client, spared) {
			out.Waiting++
		}
		return true
	})
	return out, err
}

func anyWithin(client netip.Prefix, networks []netip.Prefix) bool {
	for _, n := range networks {
		if within(client, n) {
			return true
		}
	}
	return false
}
