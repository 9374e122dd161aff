package main

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"
)

func (c *ctl) stats(args []string) error {
	every := false
	if _, err := c.parse(args, 0, 0, func(fs *flag.FlagSet) { fs.BoolVar(&every, "all", false, "") }); err != nil {
		return err
	}
	var all map[string]any
	if done, err := c.call(http.MethodGet, "/api/overview", nil, &all); done || err != nil {
		return err
	}
	if every {
		return c.counters(all)
	}
	n := func(name string) float64 { v, _ := all[name].(float64); return v }
	c.say("room        %v", all["room"])
	c.say("at origin   %.0f of %.0f page requests", n("occupancy"), n("cap"))
	c.say("in line     %.0f, of whom %.0f are there now", n("queue_depth"), n("live_queue_depth"))
	c.say("admissions  %.2f a second", n("admissions_per_second"))
	c.say("wait        half within %v, 95 in 100 within %v", ms(n("wait_p50_ms")), ms(n("wait_p95_ms")))
	c.say("origin      half within %v, 95 in 100 within %v", ms(n("origin_latency_p50_ms")), ms(n("origin_latency_p95_ms")))
	c.say("bans        %.0f", n("active_bans"))
	if shared, ok := all["fleet"].(map[string]any); ok {
		c.instances(shared)
	}
	return nil
}

// instances prints those that share the line.
func (c *ctl) instances(shared map[string]any) {
	list, _ := shared["instances"].([]any)
	c.say("redis       %v", shared["redis"])
	for _, x := range list {
		i, _ := x.(map[string]any)
		n := func(name string) float64 { v, _ := i[name].(float64); return v }
		this := ""
		if i["me"] == true {
			this = ", the one that answers"
		}
		c.say("instance    %v: %.0f of %.0f slots in use, heard of %v ago%s", i["name"], n("in_use"), n("lent"), ms(n("silent_ms")), this)
	}
}

func ms(n float64) time.Duration { return time.Duration(n) * time.Millisecond }

// counters prints every number by name.
func (c *ctl) counters(all map[string]any) error {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, name := range names {
		switch v := all[name].(type) {
		case float64:
			fmt.Fprintf(t, "%s\t%s\n", name, strconv.FormatFloat(v, 'f', -1, 64))
		case string, bool:
			fmt.Fprintf(t, "%s\t%v\n", name, v)
		}
	}
	return t.Flush()
}
