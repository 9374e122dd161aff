// Package signed makes and checks small authenticated tokens that travel in
// cookies: the admission pass, the queue ticket and their like.
//
//	secrets, err := signed.ParseSecrets(os.Getenv("CONCERT_ADMIT_SECRET"))
//	passes, err := signed.NewKeyring(secrets, "pass")
//	buf = passes.AppendToken(buf, payload)
//	payload, verdict := passes.Open(buf[:0], token)
//
// # The token
//
//	version (1 byte) | key id (4) | payload (0 to MaxPayload) | MAC (16)
//
// in base64url without padding. The MAC is the first half of HMAC-SHA256 (RFC
// 2104; truncated as its section 5 allows) over everything before it. The
// payload is readable by whoever holds the token: it is authenticated, not
// secret. Each token has exactly one spelling.
//
// # Keys
//
// Each secret yields one key and its id per purpose, by HKDF-SHA256 (RFC 5869),
// so a token made for one purpose is worth nothing for another. The first
// secret signs, all of them verify: a secret is retired by putting its
// successor before it and removing it once the tokens it signed have expired.
//
// # Verdicts
//
// Key id and version are read before anything is authenticated, so Stale is
// within anybody's reach: it must be harmless, but a client that brings many
// stale tokens deserves a limit. Forged takes the id of a key in use and a MAC
// that does not match, or text that no version of this package would produce.
//
// # Concurrency and cost
//
// A keyring does not change and may be shared. Signing and checking allocate
// nothing beyond what the destination needs, and the MAC is compared in
// constant time. Expiry, identity and revocation are the payload's business.
package signed
