package view

import (
	"net/url"
	"strconv"
)

// bar is what stands above and below a table: filter, summary, pages.
type bar struct {
	Path, What, Hint string
	Flags            bool // there is a switch for clients that were banned
	Paging           Paging
	Summary          string
}

// newBar is the bar of a tab's table, which its page knows best.
func newBar(page interface{ bar() bar }) bar { return page.bar() }

// Sizes are the numbers of rows that are offered.
func (bar) Sizes() []int { return sizes[:] }

// Back is the page before.
func (b bar) Back() int { return b.Paging.Page - 1 }

// Next is the page behind.
func (b bar) Next() int { return b.Paging.Page + 1 }

// Link is the address of a page of the table; size 0 keeps the present one.
func (b bar) Link(page, size int) string {
	p := b.Paging
	p.Page = page
	if size != 0 {
		p.Size = size
	}
	query := url.Values{}
	p.fill(query)
	return b.Path + "?" + query.Encode()
}

// Of is the address of the table of an instance.
func (b bar) Of(instance string) string {
	return b.Link(1, 0) + "&" + url.Values{"instance": {instance}}.Encode()
}

// fill puts what chooses the rows into a query.
func (p Paging) fill(query url.Values) {
	query.Set("page", strconv.Itoa(p.Page))
	query.Set("size", strconv.Itoa(p.Size))
	if p.Query != "" {
		query.Set("q", p.Query)
	}
	if p.Flagged {
		query.Set("flagged", "1")
	}
}

func (p Paging) paging() Paging { return p }
