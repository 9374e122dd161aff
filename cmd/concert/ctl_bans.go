package main

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/andreimerlescu/concert/abuse/api"
	"github.com/andreimerlescu/concert/portal"
)

func (c *ctl) bans(args []string) error {
	if _, err := c.parse(args, 0, 0, nil); err != nil {
		return err
	}
	var all portal.Bans
	if done, err := c.call(http.MethodGet, "/api/bans", nil, &all); done || err != nil {
		return err
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLIENT\tUNTIL\tOFFENSES\tCAUSE\tNOTE")
	for _, b := range all.Bans {
		until := "permanent"
		if b.Until != nil {
			until = *b.Until
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", b.Client, until, b.Offenses, b.Cause, printable(b.Note))
	}
	if !all.Enabled {
		defer c.say("the abuse registry is off: these bans refuse nobody")
	}
	return t.Flush()
}

func (c *ctl) ban(args []string) error {
	var order portal.BanOrder
	words, err := c.parse(args, 1, 1, func(fs *flag.FlagSet) {
		fs.StringVar(&order.Duration, "for", "", "")
		fs.BoolVar(&order.Permanent, "permanent", false, "")
		fs.StringVar(&order.Note, "note", "", "")
	})
	if err != nil {
		return err
	}
	if order.Client = words[0]; order.Duration == "" && !order.Permanent {
		order.Duration = "1h"
	}
	var out portal.BanMade
	if done, err := c.call(http.MethodPost, "/api/bans", order, &out); done || err != nil {
		return err
	}
	c.say("%s is banned %s; %d removed from the line", out.Client, howLong(out.Ban), out.Dropped)
	for _, p := range out.ExemptWithin {
		c.say("%s inside it stays reachable", p)
	}
	return nil
}

// howLong says how long a ban holds.
func howLong(b api.Ban) string {
	if b.Until == nil {
		return "permanently"
	}
	return "until " + *b.Until
}

func (c *ctl) unban(args []string) error {
	words, err := c.parse(args, 1, 1, nil)
	if err != nil {
		return err
	}
	var out portal.Unbanned
	if done, err := c.call(http.MethodDelete, "/api/bans?client="+url.QueryEscape(words[0]), nil, &out); done || err != nil {
		return err
	}
	c.say("%s is not banned any more", out.Unbanned)
	return nil
}
