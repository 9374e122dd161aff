package abuse_test

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/abuse"
)

func ExampleRegistry() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r, err := abuse.New(abuse.Config{
		Enabled: true, Strikes: 20, Window: time.Minute,
		Cooldown: 5 * time.Minute, MaxCooldown: 24 * time.Hour, MaxEntries: 100_000,
	}, now)
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Subscribe(func(e abuse.Event) {
		fmt.Println(e.Kind, e.Ban.Client, e.Ban.Cause, "until", e.Ban.Until.Format(time.TimeOnly))
	})
	client := netip.MustParseAddr("203.0.113.9")
	for range 4 {
		r.Strike(client, "forged-pass", 5, now)
	}
	fmt.Println(r.Lookup(client, now).Remaining(now))
	fmt.Println(r.Lookup(client, now.Add(5*time.Minute)))
	// Output:
	// banned 203.0.113.9/32 forged-pass until 12:05:00
	// 5m0s
	// <nil>
}
