package portal

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/portal/view"
)

// status is what every page and fragment shows.
func (p *Portal) status(now time.Time) view.Status {
	if p.RoomsOnly() {
		return view.Status{}
	}
	st := p.Line.Stats(now)
	return view.Status{
		Room: st.Settings.Mode.String(), InFlight: st.InFlight, Cap: st.Settings.Policy.Cap, Waiting: st.Live,
		MaxQueue: st.Settings.MaxWaiting, Admissions: st.AdmissionRate, Bans: p.Abuse.Count(now),
	}
}

// frame is what is around every page.
func (r *request) frame() view.Frame {
	f := view.Frame{
		Name: r.p.Concert.Config().BrandName, Version: r.p.Version, Viewer: r.role != operatorRole, Now: r.now,
		Status: r.p.status(r.now), Alerts: r.p.alerts(), RoomsOnly: r.p.RoomsOnly(),
	}
	if !f.RoomsOnly {
		f.IPInfo = infoText(r.p.Info.Status())
	}
	if r.session != nil {
		f.CSRF = r.p.sessions.csrf(r.session)
	}
	return f
}

// infoText is the source of IP details in words.
func infoText(s ipinfo.Status) string {
	switch s.Source {
	case ipinfo.SourceFile:
		ranges := "ranges"
		if s.Ranges == 1 {
			ranges = "range"
		}
		return fmt.Sprintf("IP details from %s, %d %s", s.File, s.Ranges, ranges)
	case ipinfo.SourceRemote:
		return "IP details from " + s.Addr
	}
	return ""
}

// alerts are what operators must know wherever they look.
func (p *Portal) alerts() []string {
	var out []string
	if p.Peers != nil {
		if away := p.Peers.Away(); away != "" {
			out = append(out, away)
		}
	}
	for _, f := range p.Data.Faults() {
		out = append(out, fmt.Sprintf("%s cannot be saved since %s: %v.", f.What, f.Since.UTC().Format("15:04 UTC"), f.Err))
	}
	if p.RoomsOnly() {
		return out
	}
	st := p.History.Stats()
	if st.Replaying {
		out = append(out, "The history of before the start is still being read.")
	}
	if st.Trouble != "" {
		out = append(out, "The history log cannot be written: "+st.Trouble+".")
	}
	if s := p.Info.Status(); s.Error != "" {
		out = append(out, "IP details: "+s.Error+".")
	}
	return out
}

// signedIn shows the form to sign in, or leads to it, unless somebody is.
func (r *request) signedIn() (bool, error) {
	if r.role != noRole {
		return true, nil
	}
	if r.URL.Path != "/" {
		return false, r.seeOther("/")
	}
	cookie, err := r.Cookie(cookieName)
	return false, r.signInPage(http.StatusOK, view.SignIn{Ended: err == nil && cookie.Value != ""})
}

// tab makes a page handler: fill makes what the page shows, and render writes
// it.
func tab[T any](fill func(*request) (T, error), render func(io.Writer, view.Frame, T) error) func(*request) error {
	return func(r *request) error {
		if ok, err := r.signedIn(); !ok {
			return err
		}
		page, err := fill(r)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := render(&b, r.frame(), page); err != nil {
			return err
		}
		r.html(http.StatusOK, b.Bytes())
		return nil
	}
}

// fragment makes an API handler out of the same parts.
func fragment[T any](fill func(*request) (T, error), render func(view.Frame, T) (view.Fragment, error)) func(*request) (any, error) {
	return func(r *request) (any, error) {
		page, err := fill(r)
		if err != nil {
			return nil, err
		}
		return anyOf(render(r.frame(), page))
	}
}

// owners finds out who has some addresses; those of a table wait at most as long
// as ipinfo says.
func (r *request) owners(addrs []netip.Addr) func(netip.Addr) *ipinfo.Details {
	if r.p.RoomsOnly() {
		return func(netip.Addr) *ipinfo.Details { return nil }
	}
	known := r.p.Info.LookupAll(r.Context(), addrs)
	return func(a netip.Addr) *ipinfo.Details {
		if d, ok := known[a.Unmap()]; ok {
			return &d
		}
		return nil
	}
}

// addrsOf are the first addresses of networks.
func addrsOf[T any](rows []T, of func(T) netip.Addr) []netip.Addr {
	addrs := make([]netip.Addr, 0, len(rows))
	for _, row := range rows {
		if a := of(row); a.IsValid() {
			addrs = append(addrs, a.Unmap())
		}
	}
	return addrs
}

// addrIn is the first address of what the history calls a client or network.
func addrIn(text string) netip.Addr {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Addr()
	}
	a, _ := netip.ParseAddr(text) // the zero Addr is nobody's
	return a
}
