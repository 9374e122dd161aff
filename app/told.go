package app

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/fleet"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/skip"
)

// told takes in what another instance told.
func (a *App) told(m fleet.Message) {
	var err error
	switch m.Kind {
	case toldBan:
		err = a.toldBan(m)
	case toldStrikes:
		err = readAs(a.toldStrikes)(m.Data)
	case toldSetting:
		err = a.toldSetting(m)
	case toldGrant:
		err = readAs(func(g savedGrant) error {
			mark, err := g.mark()
			if err == nil {
				a.restoreGrants([]priority.Mark{mark}, time.Now())
				a.marks.grants.Add(g)
			}
			return err
		})(m.Data)
	case toldSale:
		err = readAs(func(s savedSale) error {
			sale, err := s.sale()
			if err == nil {
				a.stages.skip.Restore([]skip.Sale{sale}, time.Now())
				a.marks.sales.Add(s)
			}
			return err
		})(m.Data)
	}
	if err != nil {
		a.log.Warn("what another instance told is not taken up", "instance", m.Owner(), "kind", m.Kind, "key", m.Key, "error", err)
	}
}

func (a *App) toldBan(m fleet.Message) error {
	now := time.Now()
	client, err := netip.ParsePrefix(m.Key)
	if err != nil {
		return err
	}
	if m.Data == nil {
		_, err := a.abuse.Lift(client, byInstance+m.Owner(), now)
		return err
	}
	var b abuse.Ban
	if err := json.Unmarshal(m.Data, &b); err != nil {
		return err
	}
	if known := a.abuse.Lookup(client.Addr(), now); known != nil && known.Client == client &&
		known.Permanent() == b.Permanent() && known.Cause == b.Cause && known.Until.Sub(b.Until).Abs() < sameBan {
		return nil
	}
	if err := a.abuse.Restore([]abuse.Ban{b}, now); err != nil {
		return err
	}
	a.bans.Record(persist.Ban(b))
	if b.Active(now) {
		a.log.Info("banned by another instance", "client", client, "until", b.Until, "cause", b.Cause, "instance", m.Owner(),
			"ended_streams", a.proxies.endStreams(client, a.abuse))
	}
	return nil
}

func (a *App) toldStrikes(all []toldStrike) error {
	for _, s := range all {
		for act := range pipeline.NumStrikes {
			if act.String() == s.Act {
				a.stages.ban.StrikeClient(s.Client, act, s.Times)
			}
		}
	}
	return nil
}

// toldSetting makes a change that was made elsewhere.
func (a *App) toldSetting(m fleet.Message) error {
	a.change.Lock()
	defer a.change.Unlock()
	if a.loaded == nil || bytes.Equal(a.loaded.Stored()[m.Key], m.Data) {
		return nil
	}
	ch := config.Changes{Reset: []string{m.Key}}
	if m.Data != nil {
		ch = config.Changes{Set: map[string]json.RawMessage{m.Key: m.Data}}
	}
	_, err := a.edit(context.Background(), changing(persist.By{Who: byInstance + m.Owner()}, ch))
	return err
}
