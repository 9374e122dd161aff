package portal

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/portal/view"
)

// settingsPage is the form of all settings.
func settingsPage(r *request) (view.SettingsPage, error) {
	s := r.p.Concert.Settings()
	v := view.SettingsPage{
		Fixed: s.Fixed, Persisted: s.Persisted, File: s.File, Updated: s.Updated, Undo: s.Undo,
		Changes: r.p.settingActs(), Log: r.p.facts(),
	}
	values := make(map[string]*Setting, len(s.Settings))
	for i := range s.Settings {
		values[s.Settings[i].Key] = &s.Settings[i]
	}
	for _, g := range config.Groups() {
		v.Groups = append(v.Groups, view.SettingsGroup{Name: g})
	}
	for _, row := range config.Settings() {
		for i := range v.Groups {
			if v.Groups[i].Name == row.Group {
				v.Groups[i].Fields = append(v.Groups[i].Fields, field(row, values[row.Key], s.Fixed, r.p.Concert.Config().PagesDir != ""))
			}
		}
	}
	return v, nil
}

// field is a setting in the form.
func field(row config.Setting, s *Setting, fixed, hasPages bool) view.Field {
	f := view.Field{Setting: row, Source: s.Source, Value: string(s.Value)}
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		f.Value = text
	}
	switch {
	case row.Secret:
		f.Locked = "a secret: set " + row.Env + " and restart"
	case !row.Live:
		f.Locked = "takes a restart: set -" + row.Flag + " or " + row.Env
	case fixed:
		f.Locked = "settings cannot be changed in this program"
	case row.Key == "html" && !hasPages:
		f.Locked = "start Concert with -pages-dir to choose among the pages of a directory"
	}
	return f
}

// facts are what there is to say of the history and of IP details.
func (p *Portal) facts() []view.Fact {
	h, info := p.History.Stats(), p.Info.Status()
	file := h.File
	if file == "" {
		file = "in memory only"
	}
	source := infoText(info)
	if source == "" {
		source = "off: set NADDR_DATA or NADDR_ADDR"
	}
	facts := []view.Fact{
		{Label: "History log", Value: file},
		{Label: "Lines written", Value: fmt.Sprint(h.Lines)},
		{Label: "Clients and bans remembered", Value: fmt.Sprintf("%d and %d", h.Clients, h.Bans)},
		{Label: "IP details", Value: source},
	}
	if h.Dropped > 0 {
		facts = append(facts, view.Fact{Label: "Lines that did not fit the queue to the log", Value: fmt.Sprint(h.Dropped)})
	}
	if !info.Loaded.IsZero() {
		facts = append(facts, view.Fact{Label: "IP database loaded", Value: info.Loaded.UTC().Format(time.RFC3339)})
	}
	return facts
}

// accessPage is who is signed in, and what was done.
func accessPage(r *request) (view.AccessPage, error) {
	v := view.AccessPage{Acts: r.p.Data.Acts(maxActs)}
	list := r.p.sessions.list(r.now)
	owner := r.owners(addrsOf(list, func(s session) netip.Addr { return s.client }))
	for _, s := range list {
		v.Sessions = append(v.Sessions, view.Session{
			ID: s.id(), Role: s.role.String(), Client: s.client.String(), Owner: owner(s.client), Agent: s.agent,
			Began: s.began, Seen: s.seen, Until: s.until, Current: r.isOwn(&s),
		})
	}
	return v, nil
}

// overviewPage is the first tab.
func overviewPage(r *request) (view.OverviewPage, error) {
	stats := r.p.overview(r.now)
	v := view.OverviewPage{Series: r.p.series.since(0)}
	for _, g := range counterGroups() {
		group := view.CounterGroup{Title: g.title}
		for _, c := range g.counters {
			value, ok := numberOf(stats[c.name])
			if !ok {
				return v, fmt.Errorf("BUG: portal: counter %s is no number", c.name)
			}
			group.Counters = append(group.Counters, view.Counter{Name: c.name, Label: c.label, Value: value, Unit: c.unit, Bad: c.bad})
		}
		v.Groups = append(v.Groups, group)
	}
	return v, nil
}

// numberOf is a counter's value, whichever type it has.
func numberOf(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	}
	return 0, false
}
