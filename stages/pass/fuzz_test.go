package pass

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
)

// Only what the keyring signed is ever good, whatever surrounds it.
func FuzzCookieHeader(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	s, err := New(Config{Keyring: keyring(f, mainSecret), TTL: ttl})
	if err != nil {
		f.Fatal(err)
	}
	c := s.settings.Load()
	good := cookie(c.Keyring, newToken([16]byte{7}, now, ttl))
	_, value, _ := strings.Cut(good, "=")
	for _, seed := range []string{"", "concert_admit", "concert_admit=", "concert_admit=x; ", good, good + "; a=1", altered(good), "concert_admit=" + good} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		h := http.Header{"Cookie": {line}}
		state, tok := c.best(h, now.Unix())
		authentic := state == pipeline.PassValid || state == pipeline.PassExpired
		if authentic && !strings.Contains(line, value) {
			t.Errorf("%q is %d, a pass of id %x", line, state, tok.id)
		}
		if !authentic && tok != (token{}) {
			t.Errorf("%q has no authentic pass but the id %x", line, tok.id)
		}
		h["Cookie"] = append(h["Cookie"], good)
		if n := strings.Count(line, ";"); n < cookies.MaxSame-1 {
			if state, _ := c.best(h, now.Unix()); state != pipeline.PassValid {
				t.Errorf("%q hides a valid pass behind it: state %d", line, state)
			}
		}
	})
}

// Whatever the payload says, a signed one is judged without a fault.
func FuzzPayload(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	f.Add(newToken([16]byte{7}, now, ttl).appendPayload(nil))
	f.Add([]byte(nil))
	f.Add([]byte(strings.Repeat("\xff", payloadSize)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		tok, ok := parsePayload(payload)
		if !ok {
			return
		}
		if string(tok.appendPayload(nil)) != string(payload) {
			t.Errorf("payload %x is read as %+v", payload, tok)
		}
		left := tok.expires - now.Unix()
		valid := tok.state(now.Unix()) == pipeline.PassValid
		if valid && (left <= 0 || left > tok.lifetime+skew) {
			t.Errorf("valid with %d seconds left of %d", left, tok.lifetime)
		}
	})
}
