package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/stages/operations"
)

const (
	// wrongTokens is how many wrong tokens an address may send per minute.
	wrongTokens = 10
	auditShown  = 100
)

// Operators serves the people who run rooms. Use [NewOperators].
type Operators struct {
	Config
	table
	check operations.TokenCheck
	wrong *limiter
}

// NewOperators makes the handler. Without a token it refuses everybody.
func NewOperators(c Config) *Operators {
	c.complete()
	o := &Operators{Config: c, check: operations.NewTokenCheck(c.Token), wrong: newLimiter(wrongTokens, time.Minute)}
	const rooms, one = "/api/v1/admin/rooms", "/api/v1/admin/rooms/{id}"
	o.table = newTable(o.Log, []route{
		{"POST", rooms, o.create},
		{"GET", rooms, o.list},
		{"GET", one, o.get},
		{"PATCH", one, o.update},
		{"DELETE", one, o.remove},
		{"POST", one + "/actions", o.act},
		{"GET", one + "/messages", o.messages},
		{"POST", one + "/messages", o.addMessage},
		{"PATCH", one + "/messages/{mid}", o.updateMessage},
		{"DELETE", one + "/messages/{mid}", o.removeMessage},
		{"GET", one + "/messages/{mid}", o.message},
		{"GET", one + "/stats", o.stats},
		{"GET", one + "/audit", o.audit},
		{"GET", "/api/v1/admin/stats", o.aggregate},
	})
	return o
}

// ServeHTTP implements http.Handler. Nothing is told to whoever has no token.
func (o *Operators) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, sent := operations.Bearer(r.Header)
	if o.check.Matches(raw) {
		o.table.ServeHTTP(w, r)
		return
	}
	if sent {
		client := o.Resolver.Resolve(r.RemoteAddr, r.Header)
		if wait, ok := o.wrong.allow(client.Key, o.Now()); !ok {
			writeFault(w, &fault{status: http.StatusTooManyRequests, code: "too_many", retry: max(wait, time.Second), text: "too many wrong tokens from your address"}, o.Log)
			return
		}
		o.Log.Warn("wrong admin token", "client", client.Addr)
	}
	writeFault(w, &fault{status: http.StatusUnauthorized, code: "unauthorized", text: "send the admin token: Authorization: Bearer …"}, o.Log)
}

// by is who sent a request, for the audit.
func (o *Operators) by(r *http.Request) persist.By {
	return persist.By{Who: "token", Client: o.Resolver.Resolve(r.RemoteAddr, r.Header).Addr.String()}
}

// answer writes what a method of the store returned, unless that failed.
func answer(w http.ResponseWriter, status int, value any, err error) error {
	if err == nil {
		writeJSON(w, status, value)
	}
	return err
}

func (o *Operators) create(w http.ResponseWriter, r *http.Request) error {
	members, err := readMembers(r)
	if err != nil {
		return err
	}
	room, err := gate.ReadRoom(members)
	if err != nil {
		return err
	}
	live, err := o.Store.Create(r.Context(), o.Now(), o.by(r), room)
	return answer(w, http.StatusCreated, live, err)
}

// readMembers reads a body that is an object.
func readMembers(r *http.Request) (members map[string]json.RawMessage, err error) {
	return members, readJSON(r, &members, true)
}

func (o *Operators) list(w http.ResponseWriter, r *http.Request) error {
	all, err := o.Store.Rooms(r.Context(), o.Now())
	return answer(w, http.StatusOK, map[string]any{"rooms": all}, err)
}

func (o *Operators) get(w http.ResponseWriter, r *http.Request) error {
	live, err := o.Store.Room(r.Context(), o.Now(), r.PathValue("id"))
	return answer(w, http.StatusOK, live, err)
}

func (o *Operators) update(w http.ResponseWriter, r *http.Request) error {
	members, err := readMembers(r)
	if err != nil {
		return err
	}
	now, err := o.Store.Room(r.Context(), o.Now(), r.PathValue("id"))
	if err != nil {
		return err
	}
	p, problems := gate.ReadPatch(members)
	if len(problems) > 0 {
		next, _ := p.Apply(now.Room)
		return next.CheckWith(problems)
	}
	live, err := o.Store.Update(r.Context(), o.Now(), o.by(r), r.PathValue("id"), p)
	return answer(w, http.StatusOK, live, err)
}

func (o *Operators) remove(w http.ResponseWriter, r *http.Request) error {
	if err := o.Store.Delete(r.Context(), o.Now(), r.PathValue("id")); err != nil {
		return err
	}
	o.Log.Info("room deleted", "room", r.PathValue("id"), "client", o.by(r).Client)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (o *Operators) act(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Action gate.Action `json:"action"`
	}
	if err := readJSON(r, &body, true); err != nil {
		return err
	}
	live, err := o.Store.Act(r.Context(), o.Now(), o.by(r), r.PathValue("id"), body.Action)
	return answer(w, http.StatusOK, live, err)
}

func (o *Operators) messages(w http.ResponseWriter, r *http.Request) error {
	all, err := o.Store.Messages(r.Context(), r.PathValue("id"))
	if all == nil {
		all = []gate.Message{}
	}
	return answer(w, http.StatusOK, map[string]any{"messages": all}, err)
}

func (o *Operators) message(w http.ResponseWriter, r *http.Request) error {
	all, err := o.Store.Messages(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.ID == r.PathValue("mid") {
			writeJSON(w, http.StatusOK, m)
			return nil
		}
	}
	return gate.ErrNoMessage
}

func (o *Operators) addMessage(w http.ResponseWriter, r *http.Request) error {
	var body gate.MessagePatch
	if err := readJSON(r, &body, true); err != nil {
		return err
	}
	m := body.Apply(gate.Message{Level: gate.Info, Enabled: true})
	added, err := o.Store.AddMessage(r.Context(), o.Now(), o.by(r), r.PathValue("id"), m)
	return answer(w, http.StatusCreated, added, err)
}

func (o *Operators) updateMessage(w http.ResponseWriter, r *http.Request) error {
	var body gate.MessagePatch
	if err := readJSON(r, &body, true); err != nil {
		return err
	}
	changed, err := o.Store.UpdateMessage(r.Context(), o.Now(), o.by(r), r.PathValue("id"), r.PathValue("mid"), body)
	return answer(w, http.StatusOK, changed, err)
}

func (o *Operators) removeMessage(w http.ResponseWriter, r *http.Request) error {
	if err := o.Store.DeleteMessage(r.Context(), o.Now(), o.by(r), r.PathValue("id"), r.PathValue("mid")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (o *Operators) audit(w http.ResponseWriter, r *http.Request) error {
	n := auditShown
	if text := r.URL.Query().Get("limit"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			return badRequest("limit %q: want a number from 1 on", text)
		}
	}
	acts, err := o.Store.Audit(r.Context(), r.PathValue("id"), n)
	if acts == nil {
		acts = []persist.Act{}
	}
	return answer(w, http.StatusOK, map[string]any{"audit": acts}, err)
}
