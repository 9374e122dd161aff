// Package abuse is the registry of clients that misbehave: who was struck for
// what, who is banned and until when.
//
//	r, err := abuse.New(abuse.Config{
//		Enabled: true, Strikes: 20, Window: time.Minute,
//		Cooldown: 5 * time.Minute, MaxCooldown: 24 * time.Hour,
//		MaxEntries: 100_000, Allow: allow, Proxies: trusted,
//	}, time.Now())
//	...
//	if ban := r.Lookup(addr, now); ban != nil { ... }  // refuse
//	r.Strike(addr, "forged-pass", 5, now)              // the client did something
//	ban := r.Trap(addr, path, now)                     // it asked for a ban path
//	ban, err := r.Ban(abuse.Order{...}, now)           // an operator decided
//
// The package knows no HTTP: stages/ban refuses, abuse/api serves operators.
//
// # The rules
//
// A client is an IPv4 address or an IPv6 /64; see package clientip. Acts add
// strikes to it. When its strikes of the last Window reach the limit it is
// banned for Cooldown; each further ban is twice as long, up to MaxCooldown. A
// ban starts the count of strikes anew, and what a banned client does adds
// nothing. Once its last ban has been over for more than MaxCooldown, and no
// strike since still counts, a client's record is forgotten.
//
// Operators ban clients and ranges, for a time or permanently. Where several
// bans hold for a client, the one that ends last is the one it is told of.
//
// Exempt addresses are never struck and never refused, not even inside a
// banned range. Whoever becomes exempt is free at once; an exempt address in a
// banned /64 is free while its neighbours are not.
//
// # Exactness
//
// Strikes are counted before Strike returns, one after another, so a limit is
// a limit however many requests come at once. The window slides. Up to a limit
// of 64 strikes each is kept by itself; above it, acts within a 64th of the
// window may share a record, which then counts for up to a 64th less than the
// window: never longer.
//
// # Limits
//
// At most MaxEntries clients are tracked. When there are as many, a new one
// takes the place of one that is not banned: of the one struck longest ago, or,
// when there is none without former bans, of the one whose last ban ended
// first. When all are banned, the new client's act is dropped and counted.
// Bans are never dropped. At most [MaxRanges] ranges are banned at once.
//
// # Concurrency and cost
//
// All methods may be called at any time. [Registry.Lookup] and [Registry.List]
// take no lock. A look-up costs one probe of a hash table, one longest-prefix
// match when ranges are banned, and no allocation. Everything else takes one
// lock, for well under a microsecond, except that Snapshot, Apply and Sweep
// walk over many clients.
//
// Changes are told to subscribers (see [Registry.Subscribe]): a journal makes
// bans durable, and waiting visitors of a banned client are removed.
package abuse
