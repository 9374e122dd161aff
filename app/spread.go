package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/fleet"
	"github.com/andreimerlescu/concert/internal/ticks"
	"github.com/andreimerlescu/concert/pipeline"
)

// The kinds of what instances tell each other.
const (
	toldBan     = "ban"     // key: the client; an abuse.Ban
	toldStrikes = "strikes" // no key; a list of toldStrike, not kept
	toldSetting = "setting" // key: the setting's; its value
	toldGrant   = "grant"   // key: the pass; a savedGrant
	toldSale    = "sale"    // key: the payment; a savedSale
)

const (
	// byInstance begins who did what another instance told of.
	byInstance = "instance "
	// strikesEvery is how long strikes are gathered before they are told.
	strikesEvery = 100 * time.Millisecond
	// saleKept is how long other instances remember a payment.
	saleKept = 7 * 24 * time.Hour
	// sameBan is how far apart the ends of one ban can be that several
	// instances came to by themselves.
	sameBan = 2 * time.Second
)

// toldStrike is how often a client did something.
type toldStrike struct {
	Client netip.Addr `json:"client"`
	Act    string     `json:"act"`
	Times  int        `json:"times"`
}

// struck is what strikes are counted by.
type struck struct {
	client netip.Addr
	act    pipeline.Strike
}

// strikes are those that others are still to be told of.
type strikes struct {
	mu    sync.Mutex // guards count
	count map[struck]int
}

// joinFleet takes up what other instances know, and lets them know the line's
// settings. The stages must be there.
func (a *App) joinFleet(c *config.Config) {
	if a.shared.line == nil {
		return
	}
	a.shared.log = fleet.New(fleet.Options{
		Conn: a.shared.conn, Room: c.RedisRoom, Instance: c.InstanceName(), Take: a.told, All: a.tellAll, Log: a.log,
	})
	ctx, cancel := context.WithTimeout(context.Background(), redisTime)
	defer cancel()
	if err := a.shared.log.Load(ctx); err != nil {
		a.log.Warn("what other instances know is taken up later", "error", err)
		return
	}
	// Only now: flags must not hold for a moment where operators changed them.
	err := a.line.Configure(ctx, time.Now(), lineSettings(a.cfg.Load()))
	for _, r := range a.inline.all() {
		err = errors.Join(err, r.line.Configure(ctx, time.Now(), *r.set.Load()))
	}
	if err != nil {
		a.log.Warn("the line goes by the settings of other instances", "error", err)
	}
}

// tell tells the other instances, if there can be any.
func (a *App) tell(kind, key string, v any, until int64) {
	if a.shared.log == nil {
		return
	}
	m := fleet.Message{Kind: kind, Key: key, Keep: kind != toldStrikes, Until: until}
	if v != nil {
		data, err := json.Marshal(v)
		if err != nil {
			a.log.Error("BUG: other instances are not told", "kind", kind, "key", key, "error", err)
			return
		}
		m.Data = data
	}
	a.shared.log.Tell(m)
}

// tellAll tells everything that other instances should know.
func (a *App) tellAll(say func(fleet.Message)) {
	add := func(kind, key string, v any, until int64) {
		if data, err := json.Marshal(v); err == nil {
			say(fleet.Message{Kind: kind, Key: key, Data: data, Keep: true, Until: until})
		}
	}
	now := time.Now()
	for _, b := range a.abuse.Snapshot(now) {
		add(toldBan, b.Client.String(), b, a.banKept(&b))
	}
	a.change.Lock()
	if a.loaded != nil {
		for key, value := range a.loaded.Stored() {
			add(toldSetting, key, value, 0)
		}
	}
	a.change.Unlock()
	for _, m := range a.grants(now) {
		g := saveGrant(m)
		add(toldGrant, g.Pass, g, m.Until)
	}
	for _, s := range a.stages.skip.Sales() {
		add(toldSale, s.Payment, savedSale(s), now.Add(saleKept).Unix())
	}
}

// banKept is until when a ban is to be known, in Unix seconds: those who start
// later are told of former ones, too, as long as they make the next one longer.
func (a *App) banKept(b *abuse.Ban) int64 {
	if b.Permanent() {
		return 0
	}
	return b.Until.Add(a.cfg.Load().AbuseMaxCooldown).Unix()
}

// tellBan tells of what is new in the registry, unless it came from others.
func (a *App) tellBan(e abuse.Event) {
	switch {
	case e.Kind == abuse.Banned:
		a.tell(toldBan, e.Ban.Client.String(), e.Ban, a.banKept(e.Ban))
	case e.Kind == abuse.Lifted && e.By != abuse.ByExemption, e.Kind == abuse.Forgotten && e.By != "":
		if !strings.HasPrefix(e.By, byInstance) {
			a.tell(toldBan, e.Ban.Client.String(), nil, 0)
		}
	}
}

// tellSettings tells what an operator changed, with change held.
func (a *App) tellSettings(before, after map[string]json.RawMessage) {
	for key, value := range after {
		if !bytes.Equal(before[key], value) {
			a.tell(toldSetting, key, value, 0)
		}
	}
	for key := range before {
		if _, there := after[key]; !there {
			a.tell(toldSetting, key, nil, 0)
		}
	}
}

// noteStrike has a strike be told with the next lot.
func (a *App) noteStrike(client netip.Addr, act pipeline.Strike) {
	if a.shared.log == nil {
		return
	}
	s := &a.shared.strikes
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == nil {
		s.count = make(map[struck]int)
	}
	s.count[struck{client, act}]++
}

// spread does what a fleet takes beside the line, until ctx ends.
func (a *App) spread(ctx context.Context) {
	if a.shared.log == nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { a.shared.log.Run(ctx) })
	if a.shared.desk != nil {
		wg.Go(func() { a.shared.desk.Run(ctx) })
	}
	ticks.Each(ctx, strikesEvery, func(time.Time) { a.tellStrikes() })
}

func (a *App) tellStrikes() {
	s := &a.shared.strikes
	s.mu.Lock()
	count := s.count
	s.count = nil
	s.mu.Unlock()
	if len(count) == 0 {
		return
	}
	out := make([]toldStrike, 0, len(count))
	for k, n := range count {
		out = append(out, toldStrike{k.client, k.act.String(), n})
	}
	a.tell(toldStrikes, "", out, 0)
}
