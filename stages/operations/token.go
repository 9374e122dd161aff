package operations

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// TokenCheck compares bearer tokens in constant time.
type TokenCheck struct {
	sum [sha256.Size]byte
	set bool
}

// NewTokenCheck prepares the comparison; an empty token matches nothing.
func NewTokenCheck(token string) TokenCheck {
	return TokenCheck{sum: sha256.Sum256([]byte(token)), set: token != ""}
}

// Set reports whether there is a token at all.
func (c TokenCheck) Set() bool { return c.set }

// Matches reports whether token is the right one. Hashing both sides first
// hides the length as well as the content (the time does not depend on where
// two tokens differ).
func (c TokenCheck) Matches(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], c.sum[:]) == 1 && c.set
}

// Bearer returns the credentials of an Authorization header with the scheme
// Bearer (RFC 6750, section 2.1; schemes are case-insensitive, RFC 9110,
// section 11.1), and whether any Authorization header was sent.
func Bearer(h http.Header) (token string, sent bool) {
	value := h.Get("Authorization")
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", value != ""
	}
	return strings.TrimSpace(rest), true
}
