// Package ban is the first stage: it refuses banned clients, bans whoever asks
// for a ban path, and passes on what the other stages strike clients for.
//
//	s, err := ban.New(registry, ban.Config{Paths: table, Ticket: cookie})
//	p, err := pipeline.New(pipeline.Config{Strikes: s.Strike, ...}, s, ...)
//
// The rules, and what is remembered of whom, are package abuse's. The stage
// comes before all others and acts on every class: a banned client gets
// nothing, neither a bypass path nor a health check.
//
// # What a banned client is told
//
// 429 with Retry-After, or 403 when the ban is permanent, as the pipeline
// renders them; the cookie of its ticket is cleared, because the ticket is
// void. A poll of its waiting page is told that it is ready instead, so that
// the page loads again and shows the notice.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use. A client that is not banned costs one
// look-up, of the path too when there are ban paths, and no allocation.
// Refusing one that is banned allocates nothing either.
package ban
