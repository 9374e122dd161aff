package config

import (
	"math"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

func abuseRows() []Setting {
	return []Setting{{
		Key: "abuse", Default: "true", Group: GroupAbuse, Live: true,
		Help: "Strike and ban clients that misbehave. While it is off, bans are kept and not enforced.",
		bind: flagged(func(c *Config) *bool { return &c.Abuse }),
	}, {
		Key: "abuse_strikes", Default: "20", Unit: "strikes", Group: GroupAbuse, Live: true,
		Help: "Total of strikes within -abuse-window that bans a client.",
		bind: whole(func(c *Config) *int { return &c.AbuseStrikes }, 1, math.MaxInt32),
	}, {
		Key: "abuse_window", Default: "1m", Group: GroupAbuse, Live: true,
		Help: "How long a strike counts.",
		bind: interval(func(c *Config) *time.Duration { return &c.AbuseWindow }, time.Millisecond, 7*day),
	}, {
		Key: "abuse_cooldown", Default: "5m", Group: GroupAbuse, Live: true,
		Help: "Length of a client's first ban; each further one is twice as long as the one before.",
		bind: interval(func(c *Config) *time.Duration { return &c.AbuseCooldown }, time.Millisecond, 365*day),
	}, {
		Key: "abuse_max_cooldown", Default: "24h", Group: GroupAbuse, Live: true,
		Help: "Longest ban, and how long after its last ban a client is remembered.",
		bind: interval(func(c *Config) *time.Duration { return &c.AbuseMaxCooldown }, time.Millisecond, 365*day),
	}, {
		Key: "abuse_max_entries", Default: "100000", Unit: "clients", Group: GroupAbuse, Live: true,
		Help: "Most clients tracked at once. When there are as many, a new one takes the place of one that is not banned.",
		bind: whole(func(c *Config) *int { return &c.AbuseMaxEntries }, 1, 100_000_000),
	}, {
		Key: "abuse_allow", Group: GroupAbuse, Live: true,
		Help: "Clients that are never struck or banned, beside the trusted proxies: monitoring, offices, shared mobile networks.",
		bind: trustList(func(c *Config) **clientip.Trust { return &c.AbuseAllow }),
	}, {
		Key: "ban_paths", Group: GroupAbuse, Live: true,
		Help: "Paths that no honest visitor asks for: whoever does, in any spelling, is banned at once.",
		bind: pathList(func(c *Config) *[]string { return &c.BanPaths }),
	}}
}
