package portal

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
)

// apiOverview are all counters, by name.
func apiOverview(r *request) (any, error) { return r.p.overview(r.now), nil }

// overview adds what the portal knows itself to the program's counters.
func (p *Portal) overview(now time.Time) map[string]any {
	stats := p.Concert.Stats()
	stats["active_bans"] = p.Abuse.Count(now)
	stats["notes_tracked"] = p.notes.count()
	stats["notes_dropped"] = p.notes.dropped.Load()
	stats["priority_placed_total"] = p.notes.ranked.Load()
	stats["kicked_active"] = p.kicked.n.Load()
	return stats
}

// apiSeries is what the charts show.
func apiSeries(r *request) (any, error) {
	since, err := r.number("since", 0)
	if err != nil {
		return nil, err
	}
	return r.p.series.since(int64(since)), nil
}

// Session is a sign-in in force.
type Session struct {
	ID      string    `json:"id"` // to revoke it by
	Role    string    `json:"role"`
	Client  string    `json:"client"`
	Agent   string    `json:"user_agent"`
	Began   time.Time `json:"began"`
	Seen    time.Time `json:"seen"`
	Until   time.Time `json:"until"`
	Current bool      `json:"current"` // it is the one that asks
}

// Sessions are the sign-ins in force.
type Sessions struct {
	Sessions []Session `json:"sessions"` // the latest seen first
}

func apiSessions(r *request) (any, error) {
	out := Sessions{Sessions: []Session{}}
	for _, s := range r.p.sessions.list(r.now) {
		out.Sessions = append(out.Sessions, Session{
			ID: s.id(), Role: s.role.String(), Client: s.client.String(), Agent: s.agent,
			Began: stamp(s.began), Seen: stamp(s.seen), Until: stamp(s.until), Current: r.isOwn(&s),
		})
	}
	return out, nil
}

// isOwn reports whether a session is the request's.
func (r *request) isOwn(s *session) bool { return r.session != nil && r.session.nonce == s.nonce }

// Revoked answers DELETE /api/sessions.
type Revoked struct {
	Revoked string `json:"revoked"` // the id
}

// apiRevoke ends somebody's session.
func apiRevoke(r *request) (any, error) {
	id := r.query.Get("id")
	if id == "" {
		return nil, badRequest("id is missing")
	}
	s, ok := r.p.sessions.revoke(id)
	if !ok {
		return nil, problemf(http.StatusNotFound, "there is no such session: it has ended already")
	}
	r.p.Concert.Audit(r.by(), persist.Act{What: "revoke", Note: s.role.String() + " " + id[:6] + " of " + s.client.String()})
	return Revoked{id}, nil
}

// Listing is the request history.
type Listing struct {
	history.Listing
	Evicted      uint64        `json:"evicted"` // clients that made room
	AbuseEnabled bool          `json:"abuse_enabled"`
	Persisted    bool          `json:"persisted"` // the history outlives the process
	Limits       HistoryLimits `json:"limits"`
}

// HistoryLimits are how much the history keeps.
type HistoryLimits struct {
	Clients          int   `json:"clients"`
	EntriesPerClient int   `json:"entries_per_client"`
	Bans             int   `json:"bans"`
	KeepSeconds      int64 `json:"keep_seconds"`
	ListedClients    int   `json:"listed_clients"`
	ListedBans       int   `json:"listed_bans"`
}

// listing searches the request history.
func listing(r *request) (Listing, error) {
	flagged, err := r.flag("flagged")
	if err != nil {
		return Listing{}, err
	}
	l := r.p.History.Search(r.query.Get("q"), flagged, r.now)
	return Listing{
		Listing: l, Evicted: l.Stats.Evicted, AbuseEnabled: r.p.Abuse.Enabled(), Persisted: l.Stats.File != "",
		Limits: HistoryLimits{
			history.MaxClients, history.EntriesPerClient, history.MaxBans, int64(history.Keep / time.Second),
			history.ListedClients, history.ListedBans,
		},
	}, nil
}

// clientOf finds the client that a request asks for in the history.
func (r *request) clientOf() (history.ClientView, error) {
	client, err := abuse.ParseClient(r.query.Get("client"))
	if err != nil {
		return history.ClientView{}, badRequest("client %w", err)
	}
	v, ok := r.p.History.Client(client, r.now)
	if !ok {
		return v, problemf(http.StatusNotFound, "%s is not in the history", clientip.FormatKey(client))
	}
	return v, nil
}

// banRecordOf finds the ban that a request asks for in the history.
func (r *request) banRecordOf() (history.BanView, error) {
	n, err := strconv.ParseUint(r.query.Get("id"), 10, 64)
	if err != nil || n == 0 {
		return history.BanView{}, badRequest("id must be the number of a ban")
	}
	v, ok := r.p.History.Ban(n, r.now)
	if !ok {
		return v, problemf(http.StatusNotFound, "ban %d is not in the history", n)
	}
	return v, nil
}

// asAPI serves a value as JSON.
func asAPI[T any](fill func(*request) (T, error)) func(*request) (any, error) {
	return func(r *request) (any, error) { return anyOf(fill(r)) }
}

func anyOf[T any](v T, err error) (any, error) { return v, err }

// Static files.
const (
	assetPrefix = "/assets/"
	assetPath   = "/assets/{path}"
)

// asset serves a file of the pages.
func asset(r *request) error {
	body, contentType, ok := view.Asset(strings.TrimPrefix(r.URL.Path, assetPrefix))
	if !ok {
		return problemf(http.StatusNotFound, "there is nothing at this address")
	}
	r.w.Header().Set("Content-Type", contentType)
	r.w.Header().Set("Cache-Control", "private, max-age=300")
	http.ServeContent(r.w, r.Request, "", time.Time{}, bytes.NewReader(body))
	return nil
}
