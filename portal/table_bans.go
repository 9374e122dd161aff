package portal

import (
	"net/netip"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/portal/view"
)

// bansPage is a page of the bans in force.
func bansPage(r *request) (view.BansPage, error) {
	q := r.table()
	bans := r.p.Abuse.List(abuse.Filter{Text: q.text}, r.now)
	v := view.BansPage{
		Paging: q.paging(len(bans)), Enabled: r.p.Abuse.Enabled(), Persisted: r.p.Data.Path() != "",
	}
	whereIn(&q, &v.Paging, bans, func(b *abuse.Ban) string { return clientip.FormatKey(b.Client) })
	v.Rows = r.banRows(shown(v.Paging, bans))
	return v, nil
}

func (r *request) banRows(bans []*abuse.Ban) []view.BanRow {
	owner := r.owners(addrsOf(bans, func(b *abuse.Ban) netip.Addr { return b.Client.Addr() }))
	rows := make([]view.BanRow, len(bans))
	for i, b := range bans {
		rows[i] = view.BanRow{Ban: b, Owner: owner(b.Client.Addr())}
	}
	return rows
}
