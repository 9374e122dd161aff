package view

import (
	"io"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/ipinfo"
)

// BansPage is one page of the bans in force.
type BansPage struct {
	Paging
	Rows      []BanRow
	Enabled   bool // the registry; while it is off, bans are kept and refuse nobody
	Persisted bool // bans outlive the process
}

// BanRow is one ban in force. Its key is the client as text.
type BanRow struct {
	*abuse.Ban
	Owner *ipinfo.Details // of the client's first address; nil when not known
}

func (p BansPage) bar() bar {
	return bar{Path: "/bans", What: "bans", Hint: "Filter by address, cause, note", Paging: p.Paging, Summary: bansSummary(p)}
}

func bansSummary(p BansPage) string {
	if p.Total == 0 && p.Query == "" {
		return "Nobody is banned"
	}
	return matching(p.Paging, "ban in force", "bans in force")
}

// RenderBans writes a page of the bans in force.
func RenderBans(w io.Writer, f Frame, p BansPage) error { return render(w, TabBans, f, p) }

// BansFragment renders the rows of a page of bans.
func BansFragment(f Frame, p BansPage) (Fragment, error) {
	return table("bans-rows", f, p, p.Paging, bansSummary(p))
}

// BanPreview says what a ban would do, before it is made.
type BanPreview struct {
	Client  string `json:"client"` // as it would be banned, host bits masked
	Range   bool   `json:"range"`
	Waiting int    `json:"waiting"` // visitors in line who would be removed
	// ExemptWithin are networks inside that stay reachable.
	ExemptWithin []string `json:"exempt_within"`
	// Current is the ban that it would replace: its end in RFC 3339,
	// "permanent", or "" for none.
	Current string `json:"current"`
	// Self is set when the operator's own address is inside.
	Self bool `json:"self"`
	// Problem says why it cannot be made; "" when it can.
	Problem string `json:"problem"`
}
