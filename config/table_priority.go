package config

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/skip"
)

func priorityRows() []Setting {
	return []Setting{{
		Key: "priority_cap", Default: "0", Unit: "page requests", Group: GroupPriority, Live: true,
		Help: "Slots of the priority lane, on top of -cap; 0 means a quarter of -cap, but at least one.",
		bind: whole(func(c *Config) *int { return &c.PriorityCap }, 0, math.MaxInt32),
		effect: func(c *Config) string {
			if c.PriorityCap > 0 {
				return ""
			}
			return strconv.Itoa(priority.LaneSlots(c.PriorityCap, c.Cap))
		},
	}, {
		Key: "priority_lane_rank", Default: "3", Unit: "rank", Group: GroupPriority, Live: true,
		Help: "Lowest rank that uses the priority lane: 1 member, 2 prospect, 3 customer, 4 subscriber, 5 checkout, 6 staff; with 7 none does.",
		bind: whole(func(c *Config) *int { return &c.PriorityLaneRank }, int(pipeline.Member), int(priority.NoLane)),
	}, {
		Key: "priority_wait", Default: "5s", Group: GroupPriority, Live: true,
		Help: "Longest wait for a slot of the priority lane before joining the line.",
		bind: interval(func(c *Config) *time.Duration { return &c.PriorityWait }, 0, priority.MaxWait),
	}, {
		Key: "priority_forms", Default: "true", Group: GroupPriority, Live: true,
		Help: "Forms from admitted visitors use the priority lane; one that gets no slot is answered 503 and told that it was not sent.",
		bind: flagged(func(c *Config) *bool { return &c.PriorityForms }),
	}, {
		Key: "form_hold", Default: "0", Group: GroupPriority, Live: true,
		Help: "How long a form of up to 64 KiB is kept in memory until a slot comes, if that is longer than -priority-wait; it is lost if Concert stops meanwhile.",
		bind: interval(func(c *Config) *time.Duration { return &c.FormHold }, 0, priority.MaxWait),
	}, {
		Key: "rank_order", Default: "false", Group: GroupPriority, Live: true,
		Help: "Give a rank below the lane a head start in line: a visitor stands as if they had come 100 arrivals earlier for each rank above guest.",
		bind: flagged(func(c *Config) *bool { return &c.RankOrder }),
	}}
}

func skipRows() []Setting {
	return []Setting{{
		Key: "rate", Default: "0", Unit: "currency units", Group: GroupSkip, Live: true,
		Help: "Price of each place that a visitor skips.",
		bind: decimal(func(c *Config) *float64 { return &c.Rate }, 0, skip.MaxPrice),
	}, {
		Key: "surge", Default: "0", Unit: "currency units", Group: GroupSkip, Live: true,
		Help: "Added to the price of each place for every visitor in line.",
		bind: decimal(func(c *Config) *float64 { return &c.Surge }, 0, skip.MaxPrice),
	}, {
		Key: "skip_url", Group: GroupSkip, Live: true,
		Help: "Page where a visitor pays to skip the line; the waiting page links to it with the visitor's signed reference as ref.",
		bind: checked(func(c *Config) *string { return &c.SkipURL },
			"a path, an http or https URL, or nothing; at most 2048 characters without spaces, quotes and angle brackets", checkSkipURL),
	}, {
		Key: "pass_duration", Flag: "pass", Default: "0", Group: GroupSkip, Live: true,
		Help: "How long a visitor who paid goes to the front whenever they have to wait again; 0 gives out no such passes.",
		bind: zeroOr(func(c *Config) *time.Duration { return &c.PassDuration }, time.Minute, skip.MaxPassTTL),
	}}
}

// checkSkipURL accepts what can stand in a link and cannot leave it.
func checkSkipURL(text string) error {
	if text == "" {
		return nil
	}
	bad := len(text) > 2048 || strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == '"' || r == '\'' || r == '`' || r == '<' || r == '>' || r == '\\'
	})
	u, err := url.Parse(text)
	if bad || err != nil || u.User != nil {
		return misfit("")
	}
	web := (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
	path := u.Scheme == "" && u.Host == "" && strings.HasPrefix(text, "/")
	if !web && !path {
		return misfit("")
	}
	return nil
}
