// Package protect keeps a site for those who have waited in an off-site room
// of Concert. It is net/http middleware for any Go program.
//
//	guard, err := protect.New(protect.Options{
//		WaitingRoomURL: "https://wait.example/", Room: "demo", Audience: "shop",
//		JWKSURL: "https://wait.example/.well-known/jwks.json",
//	})
//	http.ListenAndServe(":8089", guard.Wrap(site))
//
// # What happens to a request
//
//	a session of ours                → the site
//	?token= from the waiting room    → a session cookie, 303 to the same address without it
//	Authorization: Bearer with one   → the site, unless tokens are taken once
//	GET or HEAD without any of these → 302 to the waiting room, with the address to come back to
//	another method                   → 403: nothing was done, and a redirect would lose the form
//	it cannot be told (no keys)      → 503, and the same address works when it can
//
// The session is a signed cookie of this site, good until the access ends. It
// is not the token: that one has been in an address, where logs and histories
// see it. With ValidateURL a token is taken once, so that what they saw is
// worth nothing.
//
// The address to come back to is always a path. The one that a visitor is sent
// to after a token is the request's own, on this origin whatever it looks like.
//
// # Keys
//
// The waiting room's public keys are fetched when first needed, kept for five
// minutes and, should that fail then, for as long as it does. A token with an
// unknown key has them fetched again, at most every ten seconds.
//
// # Concurrency
//
// A Guard is safe for concurrent use and starts no goroutines. A request with a
// session costs about a microsecond, one with a token some 100 and a request to
// ValidateURL.
package protect
