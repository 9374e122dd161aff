// Package pass checks and issues admission passes.
//
// # Usage
//
//	keys, err := signed.NewKeyring(secrets, pass.Purpose)
//	s, err := pass.New(pass.Config{Keyring: keys, TTL: 10 * time.Minute, CookiePath: "/"})
//
// A pass is a signed cookie, concert_admit, that a visitor gets with the first
// page the origin answers. Assets and streams are for holders of a valid one:
// an image cannot wait in line, so whoever was not admitted gets a 403 there.
//
// # Checking
//
// Any number of cookies of the name may arrive: changing the cookie path leaves
// an old one behind, and a sibling domain may plant one. The best counts, in
// this order:
//
//   - valid: the one with most life left;
//   - expired: authentic, but over. It opens nothing, but keeps its id, so that
//     what is bound to the id (a rank, a pool) survives a visitor's idle hour;
//   - stale: from before a change of secrets, or of another version;
//   - forged: only when there is no better one. One request is one strike.
//
// # Issuing
//
// A page's response carries a new pass unless a valid one came with the request
// and has more than half of its life left. With half or less, pages, assets and
// streams alike re-sign it with the same id. So most responses set no cookie.
//
// A pass is only set on what the origin answered, whatever the status; an error
// page of Concert's own sets none, since nobody was admitted anywhere. From
// then on the visit counts as holding it: a response editor set by a later
// stage finds the id in v.Pass.
//
// The cookie outlives the pass in it by [Keep]; otherwise the browser would
// throw the id away in the moment the pass expires.
//
// # Shared caches
//
// A response that carries a pass must not be kept by a cache that serves it to
// others. If the origin offered it to shared caches (public, s-maxage, a
// max-age or Expires that leaves it fresh, or one of the fields that address a
// kind of cache), it goes out as private instead, with what concerns browsers
// unchanged. Leaving the pass out instead would give a visitor with a cacheable
// front page a site without its assets. Responses to visitors whose pass needs
// no renewal are untouched, and fill the caches.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use; Apply replaces its configuration between
// two requests. Checking allocates nothing and looks at [cookies.MaxSame]
// cookies at most. A pass is bound to nobody: its holder can share it, and shares
// one pool of asset slots along with it. It cannot be revoked before it expires.
package pass
