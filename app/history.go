package app

import (
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/operations"
)

// newHistory makes the history and what it knows of addresses. The bans in
// force must be in the registry already.
func (a *App) newHistory(c *config.Config, now time.Time) (err error) {
	a.info, err = ipinfo.New(ipinfo.Config{Data: c.NaddrData, Poll: c.NaddrDataPoll, Addr: c.NaddrAddr, Log: a.log})
	if err != nil {
		return err
	}
	var inForce []history.Ban
	for _, b := range a.abuse.List(abuse.Filter{}, now) {
		inForce = append(inForce, history.Ban{Target: b.Client, Until: b.Until, Source: b.Cause})
	}
	a.history = history.New(history.Options{
		Settings: historySettings(c), File: c.HistoryFile(), Details: a.info, InForce: inForce, Log: a.log,
	})
	a.abuse.Subscribe(a.remember)
	return nil
}

func historySettings(c *config.Config) history.Settings {
	return history.Settings{On: c.History, Query: c.HistoryQuery, MaskAfter: c.HistoryMaskAfter}
}

// remember tells the history of bans. Those that run out it sees by itself.
func (a *App) remember(e abuse.Event) {
	switch e.Kind {
	case abuse.Banned:
		a.history.Banned(history.Ban{Target: e.Ban.Client, Since: e.Ban.Since, Until: e.Ban.Until, Source: e.Ban.Cause})
	case abuse.Lifted:
		a.history.Lifted(e.Ban.Client, e.At, e.By)
	}
}

// strike counts an act against a visit's client; a ban that comes of it is
// laid to this visit.
func (a *App) strike(v *pipeline.Visit, s pipeline.Strike) {
	a.history.Cause(v, func() { a.stages.ban.Strike(v, s) })
	a.noteStrike(v.Client.Addr, s)
}

// serveHistory answers GET /_room/history?client=… and ?ban=….
func (a *App) serveHistory(v *pipeline.Visit) {
	status, body := a.history.Answer(v.R.URL.Query(), time.Now())
	operations.WriteJSON(v, status, body)
}
