package portal

import (
	"net/netip"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal/view"
)

// queuePage is a page of the line.
func queuePage(r *request) (view.QueuePage, error) {
	q := r.table()
	var v view.QueuePage
	var list []line.Occupant
	var err error
	if q.text != "" {
		list, v.Paging, err = r.filterLine(&q)
	} else {
		v.Paging = q.paging(r.p.Line.Stats(r.now).Live)
		list, err = r.p.Line.List(r.Context(), r.now, v.First(), v.Size)
		q.where(&v.Paging, r.positionOf)
	}
	if err != nil {
		return v, lineError(err)
	}
	v.Rows = r.queueRows(list)
	return v, nil
}

// positionOf is the place from 0 of a visitor's id.
func (r *request) positionOf(id string) (int, bool) {
	t, ok := parseID(id)
	if !ok {
		return 0, false
	}
	st, err := r.p.Line.Look(r.Context(), r.now, t)
	return st.Place.Position - 1, err == nil && st.Known
}

// filterLine goes over the line for those who match. Only the rows of the page
// are kept.
func (r *request) filterLine(q *tableQuery) ([]line.Occupant, view.Paging, error) {
	first := view.NewPaging(searchPlaces, q.page, q.size) // as if all matched
	var rows, last []line.Occupant
	places := make(map[string]int, len(q.keys))
	for _, key := range q.keys {
		places[key] = -1
	}
	total := 0
	filter := newFilter(q.text)
	done, err := r.p.search(r.Context(), r.now, func(o *place) bool {
		if !filter.matches(o) {
			return true
		}
		if len(places) > 0 {
			if id := idOf(o.Place.Ticket.Number); places[id] == -1 {
				places[id] = total
			}
		}
		if total >= first.First() && len(rows) < first.Size {
			rows = append(rows, *o.Occupant)
		}
		if total%first.Size == 0 {
			last = last[:0]
		}
		last = append(last, *o.Occupant)
		total++
		return true
	})
	p := q.paging(total)
	p.Searched = done.limit()
	q.where(&p, func(key string) (int, bool) { return places[key], places[key] >= 0 })
	if p.Page != first.Page {
		rows = last // a page beyond the end is the last one
	}
	return rows, p, err
}

func (r *request) queueRows(list []line.Occupant) []view.QueueRow {
	owner := r.owners(addrsOf(list, func(o line.Occupant) netip.Addr { return o.Client.Addr() }))
	noted := make([]note, len(list))
	r.p.notes.all(list, noted)
	rows := make([]view.QueueRow, len(list))
	for i := range list {
		o, n := &list[i], &noted[i]
		rows[i] = view.QueueRow{
			ID: idOf(o.Place.Ticket.Number), Client: o.Client, Owner: owner(o.Client.Addr()), UserAgent: n.agent, Path: n.path,
			Joined: o.Place.Ticket.Issued, LastSeen: o.LastSeen, Position: o.Place.Position,
			Ready: o.Place.State == line.StateCalled, AtDoor: o.Place.State == line.StateDoor, Absent: o.Place.State == line.StateAbsent,
			HasPass: n.pass, Promoted: o.Place.Promoted, Rank: pipeline.Rank(o.Rank).String(), ETA: o.Place.ETA,
		}
	}
	return rows
}

// foundPage answers the search for one visitor.
func foundPage(r *request) (view.FoundPage, error) {
	f, err := r.p.find(r.Context(), cut(r.query.Get("q"), 1024), r.now)
	if err != nil {
		return view.FoundPage{}, err
	}
	v := view.FoundPage{
		Asked: f.asked, Problem: f.problem, Ended: f.ended, Searched: f.searched.limit(),
		Bans: r.banRows(f.bans),
	}
	size := view.NewPaging(0, 1, 0).Size
	for _, row := range r.queueRows(f.rows) {
		v.Rows = append(v.Rows, view.FoundRow{QueueRow: row, Page: (row.Position-1)/size + 1})
	}
	return v, nil
}
