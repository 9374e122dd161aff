package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
)

// How many bans a list has.
const (
	DefaultLimit = 1000
	MaxLimit     = 10_000
)

// Ban is a ban as it is shown.
type Ban struct {
	Client           string  `json:"client"`            // without /32 when it is one address
	Until            *string `json:"until"`             // RFC 3339, UTC; null when permanent
	RemainingSeconds int64   `json:"remaining_seconds"` // rounded up; 0 when permanent
	Offenses         int     `json:"offenses"`
	Range            bool    `json:"range"`
	Permanent        bool    `json:"permanent"`
	Since            string  `json:"since"`
	Cause            string  `json:"cause"`
	Note             string  `json:"note"`
	By               string  `json:"by"`
}

// listing is the answer to GET.
type listing struct {
	Tracked int   `json:"tracked"`
	Ranges  int   `json:"ranges"`
	Total   int   `json:"total"` // bans that match the query
	Bans    []Ban `json:"bans"`
}

// list answers GET by the query.
func (h *Handler) list(r *http.Request, now time.Time) (any, *problem) {
	q := query{values: r.URL.Query()}
	filter := abuse.Filter{
		Client: q.client("client"), Text: q.values.Get("q"),
		Range: q.choice("range"), Permanent: q.choice("permanent"),
	}
	offset, limit := q.number("offset", 0), q.number("limit", DefaultLimit)
	if q.err != nil {
		return nil, bad(q.err)
	}
	bans, stats := h.Registry.List(filter, now), h.Registry.Stats(now)
	out := listing{Tracked: stats.Tracked, Ranges: stats.RangeBans, Total: len(bans), Bans: []Ban{}}
	bans = bans[min(offset, len(bans)):]
	for _, b := range bans[:min(limit, MaxLimit, len(bans))] {
		out.Bans = append(out.Bans, Shown(b, now))
	}
	return out, nil
}

// query reads parameters; err is the first that is no good.
type query struct {
	values url.Values
	err    error
}

func (q *query) refuse(name, want string) {
	if q.err == nil {
		q.err = fmt.Errorf("%s %q: %s", name, q.values.Get(name), want)
	}
}

func (q *query) client(name string) netip.Prefix {
	text := q.values.Get(name)
	if text == "" {
		return netip.Prefix{}
	}
	p, err := abuse.ParseClient(text)
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("%s %w", name, err)
	}
	return p
}

func (q *query) choice(name string) *bool {
	switch q.values.Get(name) {
	case "":
		return nil
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	q.refuse(name, "want true or false")
	return nil
}

func (q *query) number(name string, ifUnset int) int {
	text := q.values.Get(name)
	if text == "" {
		return ifUnset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		q.refuse(name, "want a whole number from 0")
		return ifUnset
	}
	return n
}

// Shown is a ban as it stands now.
func Shown(b *abuse.Ban, now time.Time) Ban {
	out := Ban{
		Client: clientText(b.Client), Offenses: b.Offenses, Range: b.Range(), Permanent: b.Permanent(),
		Since: stamp(b.Since), Cause: b.Cause, Note: b.Note, By: b.By,
	}
	if !b.Permanent() {
		out.Until = new(stamp(b.Until))
		out.RemainingSeconds = int64((b.Remaining(now) + time.Second - 1) / time.Second)
	}
	return out
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clientText is how people read and write a client.
func clientText(p netip.Prefix) string { return clientip.FormatKey(p) }
