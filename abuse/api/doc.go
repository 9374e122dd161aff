// Package api is the registry's HTTP interface for operators.
//
//	h := &api.Handler{Registry: registry, By: func(*http.Request) string { return "admin API" }}
//	mux.Handle("/_room/abuse", authenticated(h))
//
// Who may use it is for whoever mounts it to check. All answers are JSON that
// no cache keeps; what is wrong with a request is told as {"error": …}.
//
// # Listing
//
//	GET ?client=203.0.113.9   bans that hold for some of a client or range
//	    ?q=env                bans with a text in client, cause, note or name
//	    ?range=true           ranges only; false: clients only
//	    ?permanent=true       permanent bans only; false: the others
//	    ?offset=200&limit=100 a page; at most [MaxLimit], [DefaultLimit] if not said
//
//	{"tracked":7,"ranges":1,"total":2,"bans":[{…},{…}]}
//
// total is the number of bans that match, on whatever page. A ban is
//
//	{"client":"203.0.113.9","until":"2026-03-01T12:05:00Z","remaining_seconds":300,
//	 "offenses":1,"range":false,"permanent":false,"since":"2026-03-01T12:00:00Z",
//	 "cause":"ban-path","note":"/.env","by":""}
//
// with until null, and no seconds remaining, when it is permanent. Permanent
// bans come first, then those that end last.
//
// # Banning
//
//	POST {"client":"203.0.113.0/24","duration":"1h30m","note":"scraper"}
//	POST {"client":"203.0.113.9","permanent":true}
//
// A ban that runs already is replaced. The answer is the ban, with the exempt
// networks inside as exempt_within. 400 says what is wrong, 409 why it cannot
// be: all of the client is exempt, or there are too many ranges.
//
// # Lifting
//
//	DELETE ?client=203.0.113.9
//
// ends the ban of exactly this client or range and forgets its strikes and
// former bans. 404 says that nothing is known of it.
//
// While the registry is off everything is answered 404.
package api
