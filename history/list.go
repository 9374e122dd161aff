package history

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/fold"
)

// Most rows of a listing.
const (
	ListedClients = 500
	ListedBans    = 200
)

// Listing is the answer to a search: clients with a permanent ban first, then
// those with another one, those that were banned once, and the latest.
type Listing struct {
	Clients []ClientView `json:"clients"`
	Listed  int          `json:"listed"`
	Matched int          `json:"matched"`
	Tracked int          `json:"tracked"`
	Bans    []BanView    `json:"bans"` // newest first
	Stats
}

// Search lists the clients whose address, paths or user agents contain a text,
// in any case of letters; flagged leaves only those that were banned.
func (h *History) Search(text string, flagged bool, now time.Time) Listing {
	l := Listing{Clients: h.match(strings.ToLower(text), flagged, now), Bans: h.Bans(now), Stats: h.Stats()}
	slices.SortFunc(l.Clients, byUrgency)
	l.Matched, l.Tracked = len(l.Clients), l.Stats.Clients
	l.Clients = l.Clients[:min(len(l.Clients), ListedClients)]
	l.Listed = len(l.Clients)
	l.Bans = l.Bans[:min(len(l.Bans), ListedBans)]
	return l
}

// urgency is a state's place in a listing.
func urgency(state string) int {
	switch state {
	case StatePermanent:
		return 0
	case StateActive:
		return 1
	case StateExpired, StateLifted:
		return 2
	}
	return 3
}

// match finds the clients that have a text in small letters.
func (h *History) match(text string, flagged bool, now time.Time) []ClientView {
	found := []ClientView{} // none is [], and not null
	h.eachClient(func(c *client) {
		if (c.flagged || !flagged) && c.contains(text) {
			found = append(found, h.rowLocked(c, now))
		}
	})
	return found
}

// eachClient visits every client with the lock held, a few at a time, so that
// visits do not wait for all of it.
func (h *History) eachClient(visit func(*client)) {
	const few = 32
	h.mu.Lock()
	keys := slices.Collect(maps.Keys(h.clients.byKey))
	h.mu.Unlock()
	for chunk := range slices.Chunk(keys, few) {
		h.mu.Lock()
		for _, key := range chunk {
			if c := h.clients.byKey[key]; c != nil {
				visit(c)
			}
		}
		h.mu.Unlock()
	}
}

// rowLocked is a client without its requests.
func (h *History) rowLocked(c *client, now time.Time) ClientView {
	v := c.view()
	switch w := h.bans.covering(c.key, now); {
	case w != nil:
		v.State, v.Until = w.state(now), stamp(w.until)
	case c.flagged:
		v.State = StateExpired
	}
	return v
}

// contains reports whether a text in small letters is in what is known of the
// client.
func (c *client) contains(text string) bool {
	if text == "" || strings.Contains(c.key.String(), text) {
		return true
	}
	for i := range c.agents {
		if fold.Contains(c.agents[i].text, text) {
			return true
		}
	}
	for i := range c.ring {
		if fold.Contains(c.ring[i].path, text) {
			return true
		}
	}
	return false
}

// Answer is what GET /_room/history says for a query: ?client=…, ?ban=…, or a
// listing with ?q=… and flagged=1. The body is for encoding/json.
func (h *History) Answer(query url.Values, now time.Time) (status int, body any) {
	switch {
	case query.Has("client"):
		return h.answerClient(query.Get("client"), now)
	case query.Has("ban"):
		return h.answerBan(query.Get("ban"), now)
	}
	return http.StatusOK, h.Search(query.Get("q"), query.Get("flagged") == "1", now)
}

type problem struct {
	Error string `json:"error"`
	What  string `json:"client,omitempty"`
}

func (h *History) answerClient(text string, now time.Time) (int, any) {
	_, key, ok := readClient(strings.TrimSpace(text))
	if !ok || !key.IsValid() {
		return http.StatusBadRequest, problem{Error: "client must be an IP address, or a network as the list shows it"}
	}
	v, ok := h.Client(key, now)
	if !ok {
		return http.StatusNotFound, problem{Error: "client not in the history", What: text}
	}
	return http.StatusOK, v
}

func (h *History) answerBan(text string, now time.Time) (int, any) {
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil || number == 0 {
		return http.StatusBadRequest, problem{Error: "ban must be the number of a ban"}
	}
	v, ok := h.Ban(number, now)
	if !ok {
		return http.StatusNotFound, problem{Error: "ban not in the history"}
	}
	return http.StatusOK, v
}
