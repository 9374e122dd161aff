package portal

import (
	"crypto/rand"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
)

const maxUndos = 100

// undo is what takes an act on a ban back.
type undo struct {
	id     string
	client netip.Prefix
	before *abuse.Ban // nil: there was none
	after  *abuse.Ban // nil: there is none
}

// undos are the latest acts on bans.
type undos struct {
	mu     sync.Mutex // guards latest
	latest []undo     // the newest last
}

// add keeps an act, and returns what it is taken back by.
func (u *undos) add(a undo) string {
	a.id = rand.Text()
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.latest) >= maxUndos {
		u.latest = slices.Delete(u.latest, 0, 1)
	}
	u.latest = append(u.latest, a)
	return a.id
}

// take removes an act, so that it is taken back once.
func (u *undos) take(id string) (undo, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := slices.IndexFunc(u.latest, func(a undo) bool { return a.id == id })
	if i < 0 {
		return undo{}, false
	}
	a := u.latest[i]
	u.latest = slices.Delete(u.latest, i, i+1)
	return a, true
}

// Undo is the body of POST /api/undo.
type Undo struct {
	Undo string `json:"undo"` // as the act was answered with
}

// Undone answers it.
type Undone struct {
	Client string `json:"client"`
	Banned bool   `json:"banned"` // a ban is in force again
}

// apiUndo takes a ban, or the lifting of one, back.
func apiUndo(r *request) (any, error) {
	var in Undo
	if err := r.read(&in); err != nil {
		return nil, err
	}
	var out Undone
	err := r.p.Concert.Act(func() error {
		a, ok := r.p.undos.take(in.Undo)
		if !ok {
			return problemf(http.StatusNotFound, "there is nothing to undo by that name: it was undone already, or was long ago")
		}
		out.Client = clientip.FormatKey(a.client)
		if r.p.banOf(a.client, r.now) != a.after {
			return problemf(http.StatusConflict, "the ban of %s was changed since: look at it first", out.Client)
		}
		return r.undo(a, &out)
	})
	return out, err
}

// undo puts things back as they were.
func (r *request) undo(a undo, out *Undone) error {
	if a.before == nil || !a.before.Active(r.now) {
		if _, err := r.p.Abuse.Lift(a.client, "undo by "+r.by().Who, r.now); err != nil {
			return &Problem{http.StatusConflict, err}
		}
		return r.saveBans()
	}
	order := abuse.Order{Client: a.client, Permanent: a.before.Permanent(), Note: a.before.Note}
	if !order.Permanent {
		order.For = a.before.Remaining(r.now)
	}
	out.Banned = true
	_, _, err := r.ban(order, false)
	return err
}
