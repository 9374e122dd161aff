// Package token makes and checks the signed tokens of off-site rooms: JSON Web
// Tokens (RFC 7519) with EdDSA over Ed25519 (RFC 8037).
//
//	ring, err := token.Open(path, true, time.Now()) // made if there is none
//	go ring.Watch(ctx, log)
//	raw, err := ring.Access(grant, now)
//	access, err := token.VerifyAccess(ring.Keys(now), raw, "shop", now)
//
// A queue token says which ticket its holder has; only the waiting room takes
// it. An access token says that its holder has waited; any site that knows the
// published keys (RFC 7517) can check it by itself. The two differ in audience
// and in the type in their header, so that neither passes for the other. A
// resume secret brings a queue token back; it is no JWT but a token of package
// signed.
//
// # Keys
//
// A key file holds key pairs with the time from which each signs, and until
// which it is published. A new key is published before it signs and for as long
// as tokens of it may be out, so that sites that cache the key set never meet a
// key they do not know. [File.Rotate] sees to that.
//
// # Concurrency
//
// A Ring is safe for concurrent use. Making a token takes some 25 µs and
// checking one 60 µs, the cost of Ed25519.
package token
