package certs

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestTicketsResume within the life of their keys, at a successor as well, and
// for the name they were made for only.
func TestTicketsResume(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			ca := certtest.New(t)
			pair := own(t, ca, "one.test", "two.test")
			m := managerOf(t, Config{Files: []Pair{pair}})
			mem := serve(t, m)
			held := new(oneSession)
			client := func(name string) *tls.Config {
				return &tls.Config{ServerName: name, RootCAs: ca.Pool(), MaxVersion: version, ClientSessionCache: held}
			}
			f := func(what string, mem *rawtest.Memory, name string, want bool) {
				t.Helper()
				s, err := shake(t, mem, client(name))
				if err != nil || s.DidResume != want {
					t.Errorf("%s: resumed %v, %v", what, s.DidResume, err)
				}
			}
			f("first", mem, "one.test", false)
			f("second", mem, "one.test", true)
			f("third", mem, "one.test", true)
			f("other name", mem, "two.test", false)
			f("again", mem, "two.test", true)
			m.renewTickets(time.Now().Add(ticketLife))
			f("after a change of keys", mem, "two.test", true)

			next := managerOf(t, Config{Files: []Pair{pair}})
			next.Inherit(m.Tickets())
			f("at the successor", serve(t, next), "two.test", true)
			for i := range ticketKeys {
				m.renewTickets(time.Now().Add(time.Duration(i+2) * ticketLife))
			}
			f("after a day and a half", mem, "two.test", false)
			f("at a stranger", serve(t, managerOf(t, Config{Files: []Pair{pair}})), "two.test", false)
			if s := m.Stats(); s.HandshakesResumed != 4 || s.HandshakesFull != 3 {
				t.Errorf("%d resumed, %d full", s.HandshakesResumed, s.HandshakesFull)
			}
		})
	}
}

// oneSession is a cache that offers the last session to whoever it is for.
type oneSession struct{ last *tls.ClientSessionState }

func (o *oneSession) Get(string) (*tls.ClientSessionState, bool) { return o.last, o.last != nil }
func (o *oneSession) Put(_ string, s *tls.ClientSessionState)    { o.last = s }

func TestTicketKeysAreFewAndRandom(t *testing.T) {
	now := time.Now()
	var keys Tickets
	seen := make(map[[32]byte]bool)
	for i := range 10 {
		keys, _ = keys.renewed(now.Add(time.Duration(i) * ticketLife))
		if seen[keys.Keys[0]] || len(keys.Keys) != min(i+1, ticketKeys) {
			t.Fatalf("after %d changes: %d keys, or an old one", i, len(keys.Keys))
		}
		seen[keys.Keys[0]] = true
		if _, changed := keys.renewed(keys.Made.Add(ticketLife - 1)); changed {
			t.Fatal("changed before its time")
		}
	}
}
