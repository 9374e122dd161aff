package portal

import (
	"net/netip"
	"strconv"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/portal/view"
)

// visitorsPage is a page of the clients in the history.
func visitorsPage(r *request) (view.VisitorsPage, error) {
	q := r.table()
	order := r.p.History.ClientOrder(q.text, q.flagged, r.now)
	v := view.VisitorsPage{Paging: q.paging(len(order)), On: r.p.Concert.Config().History}
	whereIn(&q, &v.Paging, order, clientip.FormatKey)
	rows := r.p.History.ClientRows(shown(v.Paging, order), r.now)
	owner := r.owners(addrsOf(rows, func(c history.ClientView) netip.Addr { return addrIn(c.Client) }))
	for _, c := range rows {
		row := view.VisitorRow{ClientView: c, Owner: owner(addrIn(c.Client))}
		if c.Client == r.query.Get("open") {
			row.Detail = r.entriesOf(addrIn(c.Client), row.Owner)
		}
		v.Rows = append(v.Rows, row)
	}
	return v, nil
}

// visitors is a page of clients that are known whole.
func (r *request) visitors(all []history.ClientView) (view.VisitorsPage, error) {
	q := r.table()
	v := view.VisitorsPage{Paging: q.paging(len(all)), On: r.p.Concert.Config().History}
	whereIn(&q, &v.Paging, all, func(c history.ClientView) string { return c.Client })
	rows := shown(v.Paging, all)
	owner := r.owners(addrsOf(rows, func(c history.ClientView) netip.Addr { return addrIn(c.Client) }))
	for _, c := range rows {
		row := view.VisitorRow{ClientView: c, Owner: owner(addrIn(c.Client))}
		if c.Client == r.query.Get("open") {
			r.query.Set("client", c.Client)
			whole, err := clientOfAll(r)
			if err != nil {
				return v, err
			}
			page, _ := strconv.Atoi(r.query.Get("entries")) // 0 is clamped
			row.Detail = new(detailOf(whole, view.NewPaging(len(whole.Entries), page, 0), row.Owner))
		}
		v.Rows = append(v.Rows, row)
	}
	return v, nil
}

// visitorDetail is what is below a client's row.
func visitorDetail(r *request) (view.VisitorDetail, error) {
	c, err := r.clientOf()
	if err != nil {
		return view.VisitorDetail{}, err
	}
	return r.detail(c), nil
}

func (r *request) detail(c history.ClientView) view.VisitorDetail {
	q := r.table()
	a := addrIn(c.Client)
	return detailOf(c, q.paging(len(c.Entries)), r.owners([]netip.Addr{a})(a))
}

func detailOf(c history.ClientView, p view.Paging, owner *ipinfo.Details) view.VisitorDetail {
	v := view.VisitorDetail{ClientView: c, Paging: p, Owner: owner}
	v.Entries = shown(p, c.Entries)
	return v
}

// entriesOf is what is below a row of the page itself; nil when the client has
// just been forgotten.
func (r *request) entriesOf(client netip.Addr, owner *ipinfo.Details) *view.VisitorDetail {
	c, ok := r.p.History.Client(clientip.KeyOf(client), r.now)
	if !ok {
		return nil
	}
	page, _ := strconv.Atoi(r.query.Get("entries")) // 0 is clamped
	return new(detailOf(c, view.NewPaging(len(c.Entries), page, 0), owner))
}
