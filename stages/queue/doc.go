// Package queue is the waiting room's HTTP side: it brings page requests before
// the line, holds them at the door, shows the waiting page, and answers
// visitors who ask after their place.
//
//	s, err := queue.New(queue.Config{Line: l, Tickets: keyring, …})
//	p, err := pipeline.New(cfg, classify, operations, pass, s, …)
//
// # Who gets what
//
// A page request that the line does not admit at once is answered by what its
// sender can make of an answer:
//
//   - a browser opening a page gets the waiting page and a place;
//   - a program gets JSON, 429, and a place, as does a script's own fetch;
//   - a form from a browser is held at the door, and otherwise told that
//     nothing was sent: a waiting page would swallow it;
//   - a part of a page (an image, a socket, a preflight not seen before) is held
//     at the door and otherwise refused: it cannot show a page, and a place for
//     it would be one that nobody comes to claim;
//   - a HEAD, a prefetch, a prerender, and a robot that fetches previews or sees
//     whether the site is up is admitted or refused, never held;
//   - a search crawler is told to come back later (Config.CrawlerAnswer);
//   - a CORS preflight is answered as the origin did before, if no slot is free.
//
// A visit that a stage before this one has seated passes by, and gives up the
// place its visitor may have. Rank and right to the front go to the line with
// the request for a place.
//
// # Tickets
//
// The cookie room_ticket carries number and issue time of a ticket, signed.
// Every cookie of the name is tried. One that is authentic but no longer in
// line (used, or run out) is no offence: requests that bring the same one, or
// the same admission pass, share one new place, so that two tabs and the
// parallel requests of one page take one place between them. A request that
// brings nothing authentic and gets a place is struck ([pipeline.StrikeChurn]).
// For the lifetime of a ticket after a start without a secret of the operator's
// own (Config.Settled), a ticket signed by a key not known here is no reason to
// strike: all who waited bring one.
//
// # Endpoints
//
// StatusPath tells a visitor their place as JSON, and LeavePath gives it up.
// returnPath picks a language, and shows whether a browser without JavaScript
// keeps cookies. All are answered here whatever the method.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use. Apply exchanges its settings as a whole,
// and each visit goes by those it began with. A Stage starts no goroutines: a
// request at the door waits in its own, for the line, its client or its time
// limit, whichever comes first. A poll allocates nothing.
//
// Over HTTP/1 a client's leaving shows only once its request body is read. Up
// to pipeline.MaxHeldBody bytes are therefore read before a request stands at
// the door; when a longer one's sender leaves meanwhile, the upstream finds out.
package queue
