package config

import (
	"errors"
	"fmt"
	"slices"

	"github.com/andreimerlescu/concert/rooms"
)

// inlineRows is the setting of the rooms beside the default one.
func inlineRows() []Setting {
	return []Setting{{
		Key: "rooms", Group: GroupRoom, Live: true,
		Help: "Rooms of their own for parts of the site, by host and path, each with its own cap, rate, line and page; see rooms.md. What fits none is in the default room, which all other settings are about.",
		bind: bound[*rooms.Set]{func(c *Config) **rooms.Set { return &c.Rooms }, codec[*rooms.Set]{
			Shape:  Shape{Kind: KindJSON, Want: "a JSON array of rooms, or nothing"},
			parse:  rooms.Parse,
			format: (*rooms.Set).String,
			check:  func(*rooms.Set) error { return nil }, // there are no bad ones
		}},
	}}
}

// readRoomPages reads the pages of rooms. They are in dir, which is -pages-dir,
// whoever names them: see openPage. The error joins everything that is wrong.
func readRoomPages(set *rooms.Set, dir string) error {
	var problems []error
	all := set.All()
	for i := range all {
		f := File{Path: all[i].HTML}
		if err := f.read(true, dir); err != nil {
			problems = append(problems, fmt.Errorf("%s: html %q: want a page in -pages-dir: %w", rooms.Called(i, all[i].ID), f.Path, err))
		}
		all[i].Page = f.Content
	}
	return errors.Join(problems...)
}

// readableRooms are the rooms that the strongest of the layers names, as far as
// they can be read.
func readableRooms(layers []layer) *rooms.Set {
	for _, from := range slices.Backward(layers) {
		if text, given := from.texts["rooms"]; given {
			set, _ := rooms.Parse(text) // its error was told
			return set
		}
	}
	return nil
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
