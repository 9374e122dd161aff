package portal

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/persist"
)

// cookieName is the cookie of a session.
const cookieName = "concert_portal"

// A session's cookie: nonce, expiry in unix seconds, and half an HMAC-SHA256
// over both.
const (
	nonceSize   = 16
	halfMAC     = sha256.Size / 2
	cookieSize  = nonceSize + 8 + halfMAC
	maxSessions = 1000 // the one seen longest ago makes room
)

type nonce [nonceSize]byte

// session is one sign-in.
type session struct {
	nonce  nonce
	role   role
	client netip.Addr
	agent  string
	began  time.Time
	seen   time.Time
	until  time.Time
}

// id is what a session is revoked by. It says nothing of the cookie.
func (s *session) id() string {
	sum := sha256.Sum256(s.nonce[:])
	return hex.EncodeToString(sum[:8])
}

// deriveKey makes the key of one purpose out of a password.
func deriveKey(pass, purpose string) []byte {
	m := hmac.New(sha256.New, []byte(pass))
	m.Write([]byte(purpose))
	return m.Sum(nil)
}

// macOf is half an HMAC-SHA256 over the parts.
func macOf(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write(p)
	}
	return m.Sum(nil)[:halfMAC]
}

// store keeps sessions beyond the process.
type store interface {
	Sessions() ([]persist.SavedSession, error)
	SaveSessions(all []persist.SavedSession) error
}

// sessions are those in force.
type sessions struct {
	keys  [operatorRole + 1][]byte // by role; nil: nobody can have it
	marks [operatorRole + 1][]byte // tell keys apart, and nothing about them
	store store

	mu  sync.Mutex // guards all and what is in it
	all map[nonce]*session
}

// newSessions takes up what was saved and is signed with the same passwords.
func newSessions(operator, viewer string, st store, log *slog.Logger, now time.Time) *sessions {
	t := &sessions{store: st, all: make(map[nonce]*session)}
	for role, pass := range map[role]string{operatorRole: operator, viewerRole: viewer} {
		if pass != "" {
			t.keys[role] = deriveKey(pass, "concert/portal/session-key")
			t.marks[role] = macOf(t.keys[role], []byte("mark"))[:8]
		}
	}
	saved, err := st.Sessions()
	if err != nil {
		log.Warn("everybody has to sign in to the portal again", "error", err)
	}
	for _, s := range saved {
		t.restore(s, now)
	}
	return t
}

func (t *sessions) restore(s persist.SavedSession, now time.Time) {
	for role := viewerRole; role <= operatorRole; role++ {
		if s.Role != role.String() || len(s.ID) != nonceSize || !now.Before(s.Until) || t.keys[role] == nil || !bytes.Equal(s.Key, t.marks[role]) {
			continue
		}
		n := nonce(s.ID)
		t.all[n] = &session{n, role, s.Client, s.Agent, s.Began, s.Began, s.Until}
	}
}

// begin makes a session and returns its cookie's value.
func (t *sessions) begin(role role, client netip.Addr, agent string, ttl time.Duration, now time.Time) (session, string) {
	s := &session{role: role, client: client, agent: agent, began: now, seen: now, until: now.Add(ttl)}
	rand.Read(s.nonce[:])
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pruneLocked(now)
	t.all[s.nonce] = s
	t.saveLocked()
	return *s, t.cookie(s)
}

// cookie is the value that stands for a session.
func (t *sessions) cookie(s *session) string {
	raw := make([]byte, 0, cookieSize)
	raw = append(raw, s.nonce[:]...)
	raw = binary.BigEndian.AppendUint64(raw, uint64(s.until.Unix()))
	raw = append(raw, macOf(t.keys[s.role], raw)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// pruneLocked drops what is over, and makes room for one.
func (t *sessions) pruneLocked(now time.Time) {
	var idlest *session
	for n, s := range t.all {
		if !now.Before(s.until) {
			delete(t.all, n)
		} else if idlest == nil || s.seen.Before(idlest.seen) {
			idlest = s
		}
	}
	if len(t.all) >= maxSessions {
		delete(t.all, idlest.nonce)
	}
}

// saveLocked writes the table. When it cannot be written the directory reports
// the fault; the sessions hold as long as the process does.
func (t *sessions) saveLocked() { _ = t.store.SaveSessions(t.savedLocked()) }

// saved are the sessions in the form that outlives the process.
func (t *sessions) saved() []persist.SavedSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.savedLocked()
}

func (t *sessions) savedLocked() []persist.SavedSession {
	saved := make([]persist.SavedSession, 0, len(t.all))
	for _, s := range t.all {
		saved = append(saved, persist.SavedSession{
			ID: s.nonce[:], Key: t.marks[s.role], Role: s.role.String(), Client: s.client, Agent: s.agent, Began: s.began, Until: s.until,
		})
	}
	return saved
}

// find returns the session that a cookie stands for, and marks it seen.
func (t *sessions) find(value string, now time.Time) (session, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(raw) != cookieSize {
		return session{}, false
	}
	const signedSize = nonceSize + 8
	until := time.Unix(int64(binary.BigEndian.Uint64(raw[nonceSize:])), 0)
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.all[nonce(raw[:nonceSize])]
	if s == nil || !now.Before(until) || !hmac.Equal(raw[signedSize:], macOf(t.keys[s.role], raw[:signedSize])) {
		return session{}, false
	}
	s.seen = now
	return *s, true
}

// csrf is the token that goes with whatever a session changes.
func (t *sessions) csrf(s *session) string {
	return hex.EncodeToString(macOf(t.keys[s.role], []byte("csrf"), s.nonce[:]))
}

// end ends a session.
func (t *sessions) end(n nonce) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, n)
	t.saveLocked()
}

// revoke ends the session with an id, and returns it.
func (t *sessions) revoke(id string) (session, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n, s := range t.all {
		if s.id() == id {
			delete(t.all, n)
			t.saveLocked()
			return *s, true
		}
	}
	return session{}, false
}

// list returns the sessions in force, the latest seen first.
func (t *sessions) list(now time.Time) []session {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]session, 0, len(t.all))
	for _, s := range t.all {
		if now.Before(s.until) {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b session) int {
		return cmp.Or(b.seen.Compare(a.seen), strings.Compare(a.id(), b.id()))
	})
	return list
}
