package app

import (
	"errors"
	"fmt"

	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/assets"
	"github.com/andreimerlescu/concert/stages/ban"
	"github.com/andreimerlescu/concert/stages/classify"
	"github.com/andreimerlescu/concert/stages/leaving"
	"github.com/andreimerlescu/concert/stages/operations"
	"github.com/andreimerlescu/concert/stages/pass"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/queue"
	"github.com/andreimerlescu/concert/stages/skip"
	"github.com/andreimerlescu/concert/stages/stream"
)

// stages are the built-in ones.
type stages struct {
	ban        *ban.Stage
	classify   *classify.Stage
	operations *operations.Stage
	leaving    *leaving.Stage
	pass       *pass.Stage
	priority   *priority.Stage
	skip       *skip.Stage
	queue      *queue.Stage
	rooms      *inlineRooms
	assets     *assets.Stage
	streams    *stream.Stage
}

// order is the way of a request, from first to last.
func (s *stages) order() pipeline.Order {
	return pipeline.Order{
		s.ban,        // banned clients and ban paths end here
		s.classify,   // which tier the path belongs to
		s.operations, // Concert's own paths end here
		s.leaving,    // pages: to the process that takes over, if one does

		// Each room has its own of these; see inline_stages.go.
		passes{s.pass, s.rooms},         // was this visitor admitted before? issued on the response
		priorities{s.priority, s.rooms}, // pages: how important is this visitor? the lane beside the line
		sales{s.skip, s.rooms},          // pages and polls: who has paid to go to the front
		queues{s.queue, s.rooms},        // pages: a slot, the door or a place in line

		s.assets,  // assets: a slot of the pass's pool and of the global one
		s.streams, // streams: a stream slot
	}
}

// newStages builds the stages. All problems are reported at once.
func (a *App) newStages(p *plan) (stages, error) {
	s := stages{rooms: &a.inline}
	var errs [10]error
	s.ban, errs[0] = ban.New(a.abuse, p.ban)
	s.classify, errs[1] = classify.New(p.classify)
	s.pass, errs[2] = pass.New(p.pass)
	p.queue.Recheck = s.ban.Enter
	s.queue, errs[3] = queue.New(p.queue)
	s.assets, errs[4] = assets.New(p.assets)
	s.streams, errs[5] = stream.New(p.stream)
	s.priority, errs[6] = priority.New(p.priority)
	s.skip, errs[7] = skip.New(p.skip)
	s.leaving, errs[8] = leaving.New(leaving.Config{Linger: idleGrace})
	scrape := metrics.Handler(metrics.NewCollector(metrics.Sources{
		Rows: a.metricRows(), Labelled: a.metricFamilies(), Requests: a.requests,
	}))
	s.operations, errs[9] = operations.New(operations.Config{Token: string(p.cfg.AdminToken), Routes: a.routes(scrape)})
	if err := errors.Join(errs[:]...); err != nil {
		return s, fmt.Errorf("build the stages: %w", err)
	}
	return s, nil
}

// apply tells every stage of a plan that newStages has accepted.
func (s *stages) apply(p *plan) error {
	return errors.Join(
		s.ban.Apply(p.ban),
		s.classify.Apply(p.classify),
		s.pass.Apply(p.pass),
		s.priority.Apply(p.priority),
		s.skip.Apply(p.skip),
		s.queue.Apply(p.queue),
		s.assets.Apply(p.assets),
		s.streams.Apply(p.stream),
	)
}
