package view

import (
	"cmp"
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
)

// functions are what templates can call.
var functions = template.FuncMap{
	"number": func(n any) string { return number(whole(n)) }, "rate": rate, "figure": figure,
	"span": span, "since": func(now, t time.Time) string { return span(now.Sub(t)) },
	"until": func(now, t time.Time) string { return span(t.Sub(now)) },
	"ms":    time.Time.UnixMilli, "exact": func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }, "iso": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"utc":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"client": clientip.FormatKey, "browser": browser, "latency": latency, "hundreds": func(status int) int { return status / 100 },
	"share": share, "title": Tab.title, "tabs": func(f sheet) []tabLink { return tabsOf(f.Frame) }, "bar": newBar,
	"who": newWho, "mark": func(on bool, text string) string {
		if on {
			return text
		}
		return ""
	},
	"acts":    func(f sheet, client, key string) actsCell { return actsCell{client, key, off(f.Viewer)} },
	"refresh": func(d time.Duration) int64 { return cmp.Or(d, refreshEvery).Milliseconds() },
	"off":     off, "ranked": func(rank string) bool { return rank != "" && rank != "guest" },
	"why": why, "ended": ended, "cause": cause, "tint": tint, "banTint": banTint, "banned": banned,
	"expander": newExpander, "state": func(f sheet, c history.ClientView) stateCell { return stateCell{c, f.Now} },
	"sheet": func(f sheet, page any) sheet { return sheet{f.Frame, page} }, "within": within, "counts": newCounts,
	"sentence": sentence, "explain": explain, "charts": func() []chart { return charts }, "digest": digest,
	"minutes": minutes, "hour": hour,
	"slug": slug, "field": func(f sheet, x Field) fieldCell { return fieldCell{x, f.Viewer} },
}

// off is the attributes of an action that whoever looks may not carry out. It
// stays in the order of the keyboard, so that the reason can be found.
func off(viewer bool) template.HTMLAttr {
	if !viewer {
		return ""
	}
	return ` aria-disabled="true" aria-describedby="viewer-reason" title="Viewers change nothing"`
}

type (
	whoCell struct {
		Text  string
		Owner *ipinfo.Details
		Mark  string // beside the address; "" for none
	}
	actsCell struct {
		Client, Key string
		Off         template.HTMLAttr
	}
	stateCell struct {
		View history.ClientView
		Now  time.Time
	}
	expanderCell struct {
		Key, Link string
		Open      bool
	}
)

func newWho(text string, owner *ipinfo.Details, mark ...string) whoCell {
	return whoCell{text, owner, strings.Join(mark, " ")}
}

// newExpander is the link that shows what is below a row, or hides it again.
func newExpander(f sheet, key string, closed bool) expanderCell {
	link := url.Values{}
	if closed {
		link.Set("open", key)
	}
	if p, ok := f.Page.(interface{ paging() Paging }); ok {
		p.paging().fill(link)
	}
	return expanderCell{key, "?" + link.Encode(), !closed}
}

// tint is the color of a client's row.
func tint(c history.ClientView) string {
	switch {
	case c.State == history.StatePermanent:
		return "red"
	case c.State == history.StateActive:
		return "amber"
	case c.Newest != nil && c.Newest.Status/100 == 2:
		return "green"
	}
	return "blue"
}

func banned(c history.ClientView) bool {
	return c.State == history.StatePermanent || c.State == history.StateActive
}

// banTint is the color of a ban's row; none once it is over.
func banTint(b history.BanView) string {
	switch b.State {
	case history.StatePermanent:
		return "red"
	case history.StateActive:
		return "amber"
	}
	return ""
}

// cause says in words what started a ban.
func cause(b *abuse.Ban) string {
	switch b.Cause {
	case abuse.CauseTrap:
		return "ban path"
	case abuse.CauseOperator:
		if b.By != "" {
			return "ordered by " + b.By
		}
		return "ordered by an operator"
	}
	return b.Cause
}

// within lists the pages of a detail, of which there are few.
func within(p Paging) []int {
	pages := make([]int, p.Pages)
	for i := range pages {
		pages[i] = i + 1
	}
	return pages
}

// slug is a heading as the end of a link.
func slug(text config.Group) string {
	out := []byte("group-")
	for _, c := range []byte(text) {
		switch {
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		case c >= 'a' && c <= 'z':
			out = append(out, c)
		default:
			out = append(out, '-')
		}
	}
	return string(out)
}

// figure writes a counter's value with its unit.
func figure(c Counter) string {
	switch c.Unit {
	case "":
		return number(int(c.Value))
	case "ms":
		return milliseconds(c.Value)
	case "%":
		return strconv.FormatFloat(c.Value, 'f', 0, 64) + " %"
	}
	return rate(c.Value) + " " + c.Unit
}
