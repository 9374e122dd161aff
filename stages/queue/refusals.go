package queue

import (
	"math/rand/v2"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

var (
	badRequest  = &pipeline.Refusal{Reason: pipeline.BadRequest}
	clientGone  = &pipeline.Refusal{Reason: pipeline.ClientGone}
	wrongMethod = &pipeline.Refusal{Reason: pipeline.MethodNotAllowed}
	removed     = &pipeline.Refusal{Reason: pipeline.Removed}
)

// spread is how many different waits a refusal is prepared with. The same
// figure for all would bring everyone back in the same second.
const spread = 8

// refusalSet is one refusal with waits from base to half as long again.
type refusalSet [spread]*pipeline.Refusal

func newRefusalSet(reason pipeline.Reason, base time.Duration) refusalSet {
	var set refusalSet
	for i := range set {
		set[i] = &pipeline.Refusal{Reason: reason, RetryAfter: base + base*time.Duration(i)/(2*(spread-1))}
	}
	return set
}

// pick returns one of the set, by chance.
func (set *refusalSet) pick() error { return set[rand.IntN(spread)] }

// refusals are those that a stage gives, prepared so that refusing a crowd
// allocates nothing.
type refusals struct{ full, tooMany, shut, busy, form, crawler refusalSet }

func newRefusals(retry time.Duration) refusals {
	return refusals{
		full:    newRefusalSet(pipeline.LineFull, retry),
		tooMany: newRefusalSet(pipeline.TooManyPlaces, 2*retry),
		shut:    newRefusalSet(pipeline.LineShut, shutRetry),
		busy:    newRefusalSet(pipeline.Busy, retry),
		form:    newRefusalSet(pipeline.FormNotSent, retry),
		crawler: newRefusalSet(pipeline.Busy, crawlerRetry),
	}
}

// shutRetry is how long to stay away from a closed line.
const shutRetry = time.Minute

// crawlerRetry is how long crawlers are to stay away from a busy site.
const crawlerRetry = 10 * time.Minute
