package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/fleet"
	"github.com/andreimerlescu/concert/portal/view"
)

// Peers are the instances that share a line, which each have a history of their
// own. The methods are safe for concurrent use.
type Peers interface {
	// Instances are the names of those that are alive, and this one's.
	Instances() (names []string, me string)
	// Ask has the portal of another instance answer. The error says why there is
	// no answer; it is a *fleet.Refused when that portal said so itself.
	Ask(ctx context.Context, instance, what, query string) (json.RawMessage, error)
	// Away is what operators must know while this instance is on its own, as a
	// sentence; "" otherwise.
	Away() string
}

const (
	allInstances   = "all"  // names them all together
	thisInstance   = "this" // names the one that answers
	instanceCookie = "concert_portal_instance"
	choiceKept     = 12 * time.Hour
)

// locals are the questions that portals ask each other: all of what only one
// instance knows, none changes anything.
var locals = map[string]func(*request) (any, error){
	"visitors": func(r *request) (any, error) { return anyOf(visitorsPage(r)) },
	"visitor":  func(r *request) (any, error) { return anyOf(visitorDetail(r)) },
	"banlog":   func(r *request) (any, error) { return anyOf(banLogPage(r)) },
	"ban":      func(r *request) (any, error) { return anyOf(banDetail(r)) },
	"history":  func(r *request) (any, error) { return anyOf(listing(r)) },
	"client":   func(r *request) (any, error) { return anyOf(r.clientOf()) },
	"record":   func(r *request) (any, error) { return anyOf(r.banRecordOf()) },
}

// Answer answers what the portal of another instance asks; the error is a
// *fleet.Refused when it was a bad question.
func (p *Portal) Answer(ctx context.Context, what, query string) (json.RawMessage, error) {
	values, err := url.ParseQuery(query)
	if err != nil || locals[what] == nil {
		return nil, &fleet.Refused{Status: http.StatusBadRequest, Text: "this instance cannot answer that: is it of another version?"}
	}
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		return nil, fmt.Errorf("answer another instance: %w", err)
	}
	body, err := locals[what](&request{Request: asked, p: p, now: time.Now(), query: values})
	if problem, ok := errors.AsType[*Problem](err); ok {
		return nil, &fleet.Refused{Status: problem.Status, Text: problem.Error()}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// chosen is the instance whose history is asked for: "" for this one. A choice
// that a browser remembers of an instance that is gone counts as none.
func (r *request) chosen() (string, error) {
	name := r.query.Get("instance")
	remembered := name == "" && !strings.HasPrefix(r.URL.Path, "/api/history")
	if remembered {
		if c, err := r.Cookie(instanceCookie); err == nil {
			name, _ = url.QueryUnescape(c.Value)
		}
	}
	var names []string
	me := ""
	if r.p.Peers != nil {
		names, me = r.p.Peers.Instances()
		name = fullName(names, name)
	}
	switch {
	case name == "" || name == thisInstance || name == me:
		return "", nil
	case r.p.Peers != nil && (name == allInstances || slices.Contains(names, name)):
		return name, nil
	case remembered:
		return "", nil
	}
	return "", problemf(http.StatusNotFound, "there is no instance %s: %s", quoted(name), instancesText(names))
}

// fullName is the name of the one instance that -instance calls so, as operators
// know it: without what is added at each start. Else it is the name as given.
func fullName(names []string, name string) string {
	var called []string
	for _, one := range names {
		if at := strings.LastIndexByte(one, '-'); at > 0 && one[:at] == name {
			called = append(called, one)
		}
	}
	if len(called) == 1 && !slices.Contains(names, name) {
		return called[0]
	}
	return name
}

func instancesText(names []string) string {
	if len(names) == 0 {
		return "this Concert shares its line with no other"
	}
	return "there are " + strings.Join(names, ", ") + ", and all"
}

// local has fill answered by the instance that was chosen; together answers for
// all of them, and nil stands for this one alone.
func local[T any](what string, fill func(*request) (T, error), together func(*request) (T, error)) func(*request) (T, error) {
	return func(r *request) (v T, err error) {
		name, err := r.chosen()
		switch {
		case err != nil:
			return v, err
		case name == "" || name == allInstances && together == nil:
			v, err = fill(r)
		case name == allInstances:
			v, err = together(r)
		default:
			err = r.ask(name, what, &v)
		}
		if err == nil {
			r.offer(name, &v)
		}
		return v, err
	}
}

// ask asks another instance what this request asks.
func (r *request) ask(name, what string, into any) error {
	body, err := r.p.Peers.Ask(r.Context(), name, what, r.query.Encode())
	if refused, ok := errors.AsType[*fleet.Refused](err); ok {
		return problemf(refused.Status, "%s", refused.Text)
	}
	if err != nil {
		return problemf(http.StatusBadGateway, "%w", err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read what %s answers: %w", name, err)
	}
	return nil
}

// offer puts the choice of instances on a page, and has the browser remember
// what was chosen on it.
func (r *request) offer(name string, page any) {
	p, ok := page.(interface{ Offer([]view.Instance) })
	if !ok || r.p.Peers == nil {
		return
	}
	names, me := r.p.Peers.Instances()
	if len(names) < 2 {
		return
	}
	out := []view.Instance{{Name: allInstances, Title: "All", Chosen: name == allInstances}}
	for _, n := range names {
		i := view.Instance{Name: n, Title: n, Chosen: n == name || n == me && name == "", Silent: slices.Contains(r.silent, n)}
		if n == me {
			i.Name, i.Title = thisInstance, n+" (this one)"
		}
		out = append(out, i)
	}
	p.Offer(out)
	if r.w != nil && !r.isAPI() && r.query.Has("instance") {
		r.setCookie(instanceCookie, url.QueryEscape(cmp.Or(name, thisInstance)), choiceKept)
	}
}
