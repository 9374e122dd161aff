package portal

import (
	"net/netip"
	"strconv"

	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/portal/view"
)

// banLogPage is a page of the bans in the history.
func banLogPage(r *request) (view.BanLogPage, error) {
	q := r.table()
	order := r.p.History.BanOrder(q.text, r.now)
	v := view.BanLogPage{Paging: q.paging(len(order)), On: r.p.Concert.Config().History}
	whereIn(&q, &v.Paging, order, banKey)
	rows := r.p.History.BanRows(shown(v.Paging, order), r.now)
	owner := r.owners(addrsOf(rows, func(b history.BanView) netip.Addr { return addrIn(b.Target) }))
	for _, b := range rows {
		row := view.BanLogRow{BanView: b, Owner: owner(addrIn(b.Target)), Top: view.TopPaths(b.Paths, history.TopPaths)}
		if banKey(b.Number) == r.query.Get("open") {
			if whole, ok := r.p.History.Ban(b.Number, r.now); ok {
				row.Detail = &view.BanDetail{BanView: whole, Owner: row.Owner}
			}
		}
		v.Rows = append(v.Rows, row)
	}
	return v, nil
}

// banDetail is what is below a ban's row.
func banDetail(r *request) (view.BanDetail, error) {
	b, err := r.banRecordOf()
	if err != nil {
		return view.BanDetail{}, err
	}
	a := addrIn(b.Target)
	return view.BanDetail{BanView: b, Owner: r.owners([]netip.Addr{a})(a)}, nil
}

// banKey is the key of a ban's row.
func banKey(number uint64) string { return strconv.FormatUint(number, 10) }
