package view

import (
	"io"

	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
)

// BanLogPage is one page of the bans in the history.
type BanLogPage struct {
	Paging
	Rows []BanLogRow
	On   bool
}

// BanLogRow is one ban. Its key is its number.
type BanLogRow struct {
	history.BanView
	Owner  *ipinfo.Details // of the network's first address
	Top    []PathCount     // the most requested paths while it held, at most 3
	Detail *BanDetail      // shown below the row; nil when it is not expanded
}

// PathCount is how often a path was asked for.
type PathCount struct {
	Path  string
	Count uint64
}

// BanDetail is a ban with all paths and addresses.
type BanDetail struct {
	history.BanView
	Owner *ipinfo.Details
}

func (p BanLogPage) bar() bar {
	return bar{Path: "/banlog", What: "the ban log", Hint: "Filter by network, path, cause", Paging: p.Paging, Summary: banLogSummary(p)}
}

func banLogSummary(p BanLogPage) string { return matching(p.Paging, "ban", "bans") }

// RenderBanLog writes a page of the bans in the history.
func RenderBanLog(w io.Writer, f Frame, p BanLogPage) error { return render(w, TabBanLog, f, p) }

// BanLogFragment renders the rows of a page of the ban log.
func BanLogFragment(f Frame, p BanLogPage) (Fragment, error) {
	return table("banlog-rows", f, p, p.Paging, banLogSummary(p))
}

// BanFragment renders what is below a ban's row.
func BanFragment(f Frame, p BanDetail) (Fragment, error) {
	return table("ban-detail", f, p, NewPaging(1, 1, 0), "")
}
