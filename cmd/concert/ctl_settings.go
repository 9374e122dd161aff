package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/andreimerlescu/concert/portal"
	"github.com/andreimerlescu/concert/portal/view"
)

func (c *ctl) cap(args []string) error {
	words, err := c.parse(args, 0, 1, nil)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		var all map[string]any
		if done, err := c.call(http.MethodGet, "/api/overview", nil, &all); done || err != nil {
			return err
		}
		c.say("%v", all["cap"])
		return nil
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return usagef("cap %q: want a whole number", words[0])
	}
	return c.edit(http.MethodPost, "/api/cap", map[string]int{"cap": n})
}

func (c *ctl) pause(args []string) error { return c.room(args, "paused") }

func (c *ctl) resume(args []string) error { return c.room(args, "open") }

func (c *ctl) room(args []string, to string) error {
	if _, err := c.parse(args, 0, 0, nil); err != nil {
		return err
	}
	return c.edit(http.MethodPost, "/api/room", portal.Room{Room: to})
}

// edit changes settings, and says what that came to.
func (c *ctl) edit(method, path string, body any) error {
	var out view.Edited
	if done, err := c.call(method, path, body, &out); done || err != nil {
		return err
	}
	would := ""
	if out.DryRun {
		would = "would be "
	}
	for _, ch := range out.Changed {
		c.say("%s: %s%s, was %s", ch.Key, would, shown(ch.To), shown(ch.From))
	}
	if len(out.Changed) == 0 {
		c.say("nothing changes")
	}
	for _, e := range out.Affects {
		c.say("%s: %s", e.Key, e.Text)
	}
	for _, w := range out.Warnings {
		c.say("warning: %s", w)
	}
	return nil
}

// shown is a setting's value as people read it.
func shown(text string) string {
	if text == "" {
		return "(empty)"
	}
	return printable(text)
}

func (c *ctl) settings(args []string) error {
	var dry, undo, reset bool
	words, err := c.parse(args, 0, -1, func(fs *flag.FlagSet) {
		fs.BoolVar(&dry, "dry-run", false, "")
		fs.BoolVar(&undo, "undo", false, "")
		fs.BoolVar(&reset, "reset", false, "")
	})
	if err != nil {
		return err
	}
	query := url.Values{}
	if dry {
		query.Set("dry-run", "1")
	}
	keys, set := assignments(words)
	switch {
	case undo && len(words) > 0, undo && reset, reset && len(words) == 0, reset && len(set) > 0:
		return usagef("-undo goes by itself, -reset with keys")
	case undo:
		return c.edit(http.MethodPost, "/api/settings/undo?"+query.Encode(), nil)
	case reset:
		query["key"] = keys
		return c.edit(http.MethodDelete, "/api/settings?"+query.Encode(), nil)
	case len(set) > 0 && len(set) < len(words):
		return usagef("either show settings or change them")
	case len(set) > 0:
		return c.edit(http.MethodPost, "/api/settings?"+query.Encode(), set)
	case dry:
		return usagef("-dry-run of what?")
	}
	return c.show(keys)
}

// assignments reads words KEY or KEY=VALUE: every key, and the values by key.
func assignments(words []string) (keys []string, set map[string]json.RawMessage) {
	set = map[string]json.RawMessage{}
	for _, word := range words {
		key, value, assigns := strings.Cut(word, "=")
		if keys = append(keys, key); assigns {
			set[key], _ = json.Marshal(value) // text has a JSON form
		}
	}
	return keys, set
}

// show prints settings; without keys, all.
func (c *ctl) show(keys []string) error {
	var all portal.Settings
	if done, err := c.call(http.MethodGet, "/api/settings", nil, &all); done || err != nil {
		return err
	}
	for _, key := range keys {
		if !slices.ContainsFunc(all.Settings, func(s portal.Setting) bool { return s.Key == key }) {
			return fmt.Errorf("there is no setting %s", printable(key))
		}
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tVALUE\tSOURCE")
	for _, s := range all.Settings {
		if len(keys) == 0 || slices.Contains(keys, s.Key) {
			fmt.Fprintf(t, "%s\t%s\t%s\n", s.Key, printable(string(s.Value)), s.Source)
		}
	}
	return t.Flush()
}
