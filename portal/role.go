package portal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
)

// role is what somebody may do.
type role uint8

// The roles.
const (
	noRole       role = iota
	viewerRole        // sees everything, changes nothing
	operatorRole      // does everything
)

// String is the role's name.
func (r role) String() string { return [...]string{"nobody", "viewer", "operator"}[r] }

// passwords tell whose password a text is. It takes the same time for any two
// texts.
type passwords [operatorRole + 1][sha256.Size]byte

func newPasswords(operator, viewer string) *passwords {
	p := new(passwords)
	p[operatorRole], p[viewerRole] = sha256.Sum256([]byte(operator)), sha256.Sum256([]byte(viewer))
	rand.Read(p[noRole][:])
	if viewer == "" {
		p[viewerRole] = p[noRole]
	}
	return p
}

func (p *passwords) role(pass string) role {
	sum := sha256.Sum256([]byte(pass))
	role := noRole
	for r := viewerRole; r <= operatorRole; r++ {
		if hmac.Equal(sum[:], p[r][:]) {
			role = r
		}
	}
	return role
}
