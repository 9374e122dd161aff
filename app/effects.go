package app

import (
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/line"
)

// Effect is whom a change of a setting concerns at once.
type Effect struct {
	Key   string `json:"key"`
	Count int    `json:"count"`
	Text  string `json:"text"`
}

// effects tells whom the change to c would concern.
func (a *App) effects(c *config.Config, now time.Time) []Effect {
	old, l := a.cfg.Load(), a.line.Stats(now)
	var out []Effect
	add := func(key string, n int, format string, args ...any) {
		if n > 0 {
			out = append(out, Effect{key, n, fmt.Sprintf(format, args...)})
		}
	}
	if c.Cap < old.Cap {
		n := l.InFlight - c.Cap
		add("cap", n, "%d page requests are at the origin; nobody is let in until %d of them are done", l.InFlight, n+1)
	}
	if c.MaxQueue != old.MaxQueue && c.MaxQueue > 0 {
		n := l.Live - c.MaxQueue
		add("max_queue", n, "%d wait already; newcomers are turned away until %d of them have left", l.Live, n+1)
	}
	if c.Room != old.Room && c.Room != line.Open {
		add("room", l.Live, "%d who wait are not let in", l.Live)
	}
	if c.StreamCap < old.StreamCap {
		n := a.stages.streams.Stats().Active
		add("stream_cap", n-c.StreamCap, "%d streams are open and stay so; none is opened until fewer than %d are", n, c.StreamCap)
	}
	if c.AssetSlots() < old.AssetSlots() {
		n := a.stages.assets.Stats().InFlight
		add("asset_cap", n-c.AssetSlots(), "%d assets are at the origin; others wait", n)
	}
	a.roomEffects(c, now, add)
	a.banEffects(old, c, now, add)
	return out
}

// banEffects tells of bans that would end or rest.
func (a *App) banEffects(old, c *config.Config, now time.Time, add func(key string, n int, format string, args ...any)) {
	bans := a.abuse.List(abuse.Filter{}, now)
	if old.Abuse && !c.Abuse {
		add("abuse", len(bans), "%d of the running bans rest as long as it is off", len(bans))
	}
	if old.AbuseAllow.String() == c.AbuseAllow.String() && old.TrustedProxies.String() == c.TrustedProxies.String() {
		return
	}
	lifted := 0
	for _, b := range bans {
		if first := b.Client.Addr(); !b.Range() && (c.AbuseAllow.Contains(first) || c.TrustedProxies.Contains(first)) {
			lifted++
		}
	}
	ends := "end"
	if lifted == 1 {
		ends = "ends"
	}
	add("abuse_allow", lifted, "%d of the running bans %s for good", lifted, ends)
}
