package portal

import (
	"errors"
	"net/http"
	"sync"

	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/portal/view"
)

// askAll asks all other instances at once. Who does not answer is remembered in
// r.silent; who has nothing to say is left out.
func askAll[T any](r *request, what string) []T {
	names, me := r.p.Peers.Instances()
	answers := make([]*T, len(names))
	var wg sync.WaitGroup
	var mu sync.Mutex // guards r.silent
	for i, name := range names {
		if name == me {
			continue
		}
		wg.Go(func() {
			var v T
			err := r.ask(name, what, &v)
			if err == nil {
				answers[i] = &v
			} else if p, ok := errors.AsType[*Problem](err); !ok || p.Status != http.StatusNotFound {
				mu.Lock()
				r.silent = append(r.silent, name)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	var out []T
	for _, v := range answers {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// listingOfAll is the history of all instances: of each the clients that it
// lists.
func listingOfAll(r *request) (Listing, error) {
	l, err := listing(r)
	if err != nil {
		return l, err
	}
	for _, other := range askAll[Listing](r, "history") {
		l.Clients = append(l.Clients, other.Clients...)
		l.Matched, l.Tracked, l.Evicted = l.Matched+other.Matched, l.Tracked+other.Tracked, l.Evicted+other.Evicted
	}
	l.Clients = history.Merge(l.Clients)
	l.Listed = len(l.Clients)
	return l, nil
}

// visitorsOfAll is a page of the clients of all instances.
func visitorsOfAll(r *request) (view.VisitorsPage, error) {
	l, err := listingOfAll(r)
	if err != nil {
		return view.VisitorsPage{}, err
	}
	return r.visitors(l.Clients)
}

// clientOfAll is one client with the requests that all instances know of.
func clientOfAll(r *request) (history.ClientView, error) {
	own, err := r.clientOf()
	if p, ok := errors.AsType[*Problem](err); err != nil && (!ok || p.Status != http.StatusNotFound) {
		return own, err
	}
	all := askAll[history.ClientView](r, "client")
	if err == nil {
		all = append(all, own)
	}
	if len(all) == 0 {
		return own, err
	}
	return history.Merge(all)[0], nil
}

// visitorOfAll is what is below the row of such a client.
func visitorOfAll(r *request) (view.VisitorDetail, error) {
	c, err := clientOfAll(r)
	if err != nil {
		return view.VisitorDetail{}, err
	}
	return r.detail(c), nil
}
