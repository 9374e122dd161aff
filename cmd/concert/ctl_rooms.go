package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/andreimerlescu/concert/portal"
	"github.com/andreimerlescu/concert/portal/view"
)

// roomOrder is what ctl rooms is told to do, beside its words.
type roomOrder struct {
	kind        string
	add, remove bool
	action      string
}

// rooms shows rooms, or changes one.
func (c *ctl) rooms(args []string) error {
	var o roomOrder
	words, err := c.parse(args, 0, -1, func(fs *flag.FlagSet) {
		fs.StringVar(&o.kind, "kind", "", "")
		fs.BoolVar(&o.add, "new", false, "")
		fs.BoolVar(&o.remove, "delete", false, "")
		fs.StringVar(&o.action, "do", "", "")
	})
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return c.listRooms()
	}
	id := words[0]
	if o.kind == "" {
		if o.kind, err = c.kindOf(id, o.add); err != nil {
			return err
		}
	}
	query := "?" + url.Values{"kind": {o.kind}, "id": {id}}.Encode()
	switch {
	case o.remove:
		return c.roomDone(http.MethodDelete, "/api/rooms/room"+query, nil)
	case o.action != "":
		return c.roomDone(http.MethodPost, "/api/rooms/actions"+query, portal.RoomAction{Action: o.action})
	case len(words) == 1 && !o.add:
		return c.showRoom(query)
	}
	members, err := roomMembers(words[1:])
	if err != nil {
		return err
	}
	if o.add {
		members["id"] = id
		return c.roomDone(http.MethodPost, "/api/rooms?"+url.Values{"kind": {o.kind}}.Encode(), members)
	}
	return c.roomDone(http.MethodPost, "/api/rooms/room"+query, members)
}

// kindOf finds out which kind a room is of.
func (c *ctl) kindOf(id string, add bool) (string, error) {
	if add {
		return "", usagef("-new takes -kind site, for a part of the site, or -kind gate, for a site elsewhere")
	}
	var all portal.Rooms
	raw := c.rawJSON
	c.rawJSON = false
	_, err := c.call(http.MethodGet, "/api/rooms", nil, &all)
	c.rawJSON = raw
	if err != nil {
		return "", err
	}
	kind := ""
	for _, r := range all.Rooms {
		if r.ID == id && kind != "" {
			return "", usagef("there are two rooms %q: say which with -kind site or -kind gate", id)
		}
		if r.ID == id {
			kind = r.Kind
		}
	}
	if kind == "" {
		return "", fmt.Errorf("there is no room %q", id)
	}
	return kind, nil
}

// roomMembers reads MEMBER=VALUE. What is JSON is taken as such, lists are
// separated by commas.
func roomMembers(words []string) (map[string]any, error) {
	members := map[string]any{}
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return nil, usagef("%q: want MEMBER=VALUE, such as cap=30", word)
		}
		switch {
		case name == "hosts" || name == "paths":
			members[name] = strings.FieldsFunc(value, func(r rune) bool { return r == ',' })
		case json.Valid([]byte(value)):
			members[name] = json.RawMessage(value)
		default:
			members[name] = value
		}
	}
	return members, nil
}

func (c *ctl) roomDone(method, path string, body any) error {
	var out portal.RoomDone
	if done, err := c.call(method, path, body, &out); done || err != nil {
		return err
	}
	c.say("done")
	for _, e := range out.Affects {
		c.say("%s", e.Text)
	}
	for _, w := range out.Warnings {
		c.say("warning: %s", w)
	}
	return nil
}

func (c *ctl) listRooms() error {
	var all portal.Rooms
	if done, err := c.call(http.MethodGet, "/api/rooms", nil, &all); done || err != nil {
		return err
	}
	if len(all.Rooms) == 0 {
		c.say("there are no rooms")
		return nil
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ROOM\tKIND\tSTATE\tWAITING\tINSIDE\tCAP\tPASSED\tRATE\tOF")
	for _, r := range all.Rooms {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", r.ID, r.Kind, r.State, r.Waiting, r.Inside, r.Cap, r.Passed, r.Rate, printable(r.Where))
	}
	return t.Flush()
}

func (c *ctl) showRoom(query string) error {
	var d view.RoomDetail
	if done, err := c.call(http.MethodGet, "/api/rooms/room"+query, nil, &d); done || err != nil {
		return err
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return ", at " + t.UTC().Format(time.RFC3339)
	}
	c.say("room      %s, %s, of %s", printable(d.Name), d.State, printable(d.Where))
	c.say("waiting   %d, at most %d%s", d.Waiting, d.PeakWaiting, at(d.PeakWaitingAt))
	c.say("inside    %d of %d", d.Inside, d.Cap)
	c.say("passed    %d, at most %d a minute%s", d.Passed, d.PeakRate, at(d.PeakRateAt))
	c.say("observed  %.1f a minute", d.Observed)
	for _, m := range d.Messages {
		c.say("message   %s %s: %s", m.ID, m.Level, printable(m.Text))
	}
	return nil
}
