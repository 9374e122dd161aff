package config

import (
	"errors"
	"fmt"

	"github.com/andreimerlescu/concert/rooms"
)

// inlineRows is the setting of the rooms beside the default one.
func inlineRows() []Setting {
	return []Setting{{
		Key: "rooms", Group: GroupRoom, Live: true,
		Help: "Rooms of their own for parts of the site, by host and path, each with its own cap, rate, line and page; see rooms.md. What fits none is in the default room, which all other settings are about.",
		bind: bound[*rooms.Set]{func(c *Config) **rooms.Set { return &c.Rooms }, codec[*rooms.Set]{
			Shape: Shape{Kind: KindJSON, Want: "a JSON array of rooms, or nothing"},
			parse: func(text string) (*rooms.Set, error) {
				set, err := rooms.Parse(text)
				return set, oneLine(err)
			},
			format: (*rooms.Set).String,
			check:  func(*rooms.Set) error { return nil }, // there are no bad ones
		}},
	}}
}

// readRoomPages reads the pages of rooms. They are in -pages-dir, whoever names
// them: see openPage.
func (c *Config) readRoomPages() error {
	var problems []error
	all := c.Rooms.All()
	for i := range all {
		f := File{Path: all[i].HTML}
		if err := f.read(true, c.PagesDir); err != nil {
			problems = append(problems, fmt.Errorf("html of room %q: %w", all[i].ID, err))
		}
		all[i].Page = f.Content
	}
	return oneLine(errors.Join(problems...))
}

// adviseRooms warns about rooms that nobody gets to, and names that lead around
// one.
func (l *Loaded) adviseRooms(warn func(format string, args ...any)) {
	c := l.Config
	for i, r := range c.Rooms.All() {
		if first := c.Rooms.Behind(i); first != "" {
			warn("room %q gets no requests: room %q stands before it in -rooms and has them all; put %q first", r.ID, first, r.ID)
		}
	}
	if !c.AllowedHosts.Empty() {
		return
	}
	for _, r := range c.Rooms.All() {
		if len(r.Hosts) > 0 {
			warn("room %q goes by host and -allowed-hosts is empty: whoever asks for another name meets the default room instead; list the names of the site there", r.ID)
			return
		}
	}
}
