package view

import (
	"io"

	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
)

// VisitorsPage is one page of the clients in the history.
type VisitorsPage struct {
	Paging
	Rows []VisitorRow
	On   bool // the history is kept
}

// VisitorRow is one client. Its key is the client as text.
type VisitorRow struct {
	history.ClientView
	Owner  *ipinfo.Details // nil when not known
	Detail *VisitorDetail  // shown below the row; nil when it is not expanded
}

// VisitorDetail is a client with its requests, of which a page is shown: Paging
// counts them.
type VisitorDetail struct {
	history.ClientView
	Paging
	Owner *ipinfo.Details
}

func (p VisitorsPage) bar() bar {
	return bar{Path: "/visitors", What: "visitors", Hint: "Filter by address, path, browser", Flags: true, Paging: p.Paging, Summary: visitorsSummary(p)}
}

func visitorsSummary(p VisitorsPage) string {
	one, many := "client", "clients"
	if p.Flagged {
		one, many = "client that was banned", "clients that were banned"
	}
	return matching(p.Paging, one, many)
}

// RenderVisitors writes a page of the clients in the history.
func RenderVisitors(w io.Writer, f Frame, p VisitorsPage) error {
	return render(w, TabVisitors, f, p)
}

// VisitorsFragment renders the rows of a page of clients.
func VisitorsFragment(f Frame, p VisitorsPage) (Fragment, error) {
	return table("visitors-rows", f, p, p.Paging, visitorsSummary(p))
}

// VisitorFragment renders what is below a client's row.
func VisitorFragment(f Frame, p VisitorDetail) (Fragment, error) {
	return table("visitor-detail", f, p, p.Paging, "")
}
