package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/andreimerlescu/concert/portal"
)

func (c *ctl) queue(args []string) error {
	offset := 0
	words, err := c.parse(args, 0, 1, func(fs *flag.FlagSet) { fs.IntVar(&offset, "offset", 0, "") })
	if err != nil {
		return err
	}
	if len(words) == 1 {
		return c.find(words[0])
	}
	var q portal.Queue
	if done, err := c.call(http.MethodGet, "/api/queue?offset="+strconv.Itoa(offset), nil, &q); done || err != nil {
		return err
	}
	if q.Listed == 0 && offset == 0 {
		c.say("nobody waits")
		return nil
	}
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PLACE\tID\tCLIENT\tSTATE\tRANK\tJOINED\tPATH")
	for _, o := range q.Occupants {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", o.Position, o.ID, o.Client, o.State, o.Rank, o.Joined.Format(time.TimeOnly), printable(o.Path))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if behind := q.LiveQueueDepth - offset - q.Listed; behind > 0 {
		c.say("and %d more: -offset %d", behind, offset+q.Listed)
	}
	return nil
}

// find looks for one visitor. Not to find anybody is a failure.
func (c *ctl) find(who string) error {
	var f portal.Found
	if done, err := c.call(http.MethodGet, "/api/queue/find?q="+url.QueryEscape(who), nil, &f); done || err != nil {
		return err
	}
	for _, v := range f.Found {
		c.say("%s  %s  place %d\n  %s", v.ID, v.Client, v.Position, v.Why)
	}
	for _, b := range f.Bans {
		c.say("%s is banned %s", b.Client, howLong(b))
	}
	switch {
	case f.Problem != "":
		return fmt.Errorf("%s", printable(f.Problem))
	case f.Ended != "":
		return fmt.Errorf("the ticket is not in line: it was %s", f.Ended)
	case len(f.Found) == 0 && f.Searched > 0:
		return fmt.Errorf("not among the first %d in line", f.Searched)
	case len(f.Found) == 0:
		return fmt.Errorf("%s is not in line", printable(who))
	}
	return nil
}

// ids reads the arguments of a command that acts on visitors. Words that can
// be no id are refused before anything is done.
func (c *ctl) ids(args []string, define func(*flag.FlagSet)) ([]string, error) {
	words, err := c.parse(args, 1, -1, define)
	for _, word := range words {
		if !portal.IsID(word) {
			err = errors.Join(err, usagef("%q is no id: concert ctl queue lists the visitors with theirs, and concert ctl queue WHO finds one", word))
		}
	}
	return words, err
}

func (c *ctl) promote(args []string) error {
	ids, err := c.ids(args, nil)
	if err != nil {
		return err
	}
	for _, id := range ids {
		var out portal.Promoted
		done, err := c.call(http.MethodPost, "/api/queue/promote", portal.Promote{ID: id}, &out)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if !done {
			c.say("%s is at place %d", out.Promoted, out.Position)
		}
	}
	return nil
}

func (c *ctl) remove(args []string) error {
	var order portal.Kick
	ids, err := c.ids(args, func(fs *flag.FlagSet) {
		fs.BoolVar(&order.Ban, "ban", false, "")
		fs.StringVar(&order.Duration, "for", "", "")
		fs.BoolVar(&order.Permanent, "permanent", false, "")
		fs.StringVar(&order.Note, "note", "", "")
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		order.ID = id
		var out portal.Kicked
		done, err := c.call(http.MethodPost, "/api/queue/kick", order, &out)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", id, err)
		case done:
		case out.Banned && out.BanSeconds == 0:
			c.say("%s is removed, and %s banned permanently", out.Kicked, out.Client)
		case out.Banned:
			c.say("%s is removed, and %s banned for %v", out.Kicked, out.Client, time.Duration(out.BanSeconds)*time.Second)
		default:
			c.say("%s (%s) is removed", out.Kicked, out.Client)
		}
	}
	return nil
}
