// Package portal is the operator portal: pages for people, a JSON API for
// programs, both on a listener of their own.
//
//	p := portal.New(portal.Options{Concert: program, Line: line, …})
//	go p.Run(ctx)              // samples what the charts show
//	server.Handler = p
//
// What a person sees is in package view; what the program can do comes in
// through [Concert]. Between the two stand access and the table of routes.
//
// # Access
//
// A request passes, in this order: the address of its connection must be in
// -portal-allow (403, empty); its Host must be an IP address, a loopback name or
// configured (421), so that no other site's name can be pointed here; a request
// that another site had the browser send is refused (403); it needs a session or
// the admin token (401); what changes something needs the role of operator and,
// with a session, the session's token (403).
//
// Whoever signs in with the operator's password may do everything, whoever signs
// in with the viewer's sees everything and changes nothing. A session is a signed
// cookie and an entry in a table: signing out, or revoking it, ends it there.
//
// # Guessing passwords
//
// Failed sign-ins are counted for the browser, which has a signed cookie, and
// for the address (an IPv6 /64). Five within 15 minutes lock the browser, or the
// address for browsers that bring no cookie; twenty lock the address for all
// browsers that have not signed in before. So a colleague's typing errors lock
// out the colleague, and nobody locks out a browser that is known.
//
// # Several instances
//
// Where several Concerts share a line, the history of each is its own. Visitors
// and ban log are of the instance that answers, of another one, or, for visitors,
// of all: then the clients that each lists, at most history.ListedClients, are
// put together. Portals ask each other by way of [Peers], and answer with what
// their own pages show. A browser remembers the choice in a cookie.
//
// # Cost
//
// A page of any table costs what its rows cost, wherever it is; a filter over
// the line looks at searchPlaces places at most, a few at a time, so that polls
// of visitors go on in between, and says so when that was not all.
//
// # Concurrency
//
// A Portal is safe for concurrent use. Whatever changes something goes through
// Concert.Act or Concert.Edit, one after the other.
//
// # Limits
//
// Charts are of one hour, of this process and of those that handed over to it.
// Undo goes back to the last 100 acts on bans since the start. Where user agents
// and paths of waiting visitors come from, see notes: at most maxNotes, the
// latest, and after a start only of those who have loaded a page since. Where
// several Concerts share a line, each knows that only of visitors who came to it,
// and only the one that a visitor was removed through tells them so.
package portal
