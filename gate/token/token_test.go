package token

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/go-jose/go-jose/v4"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newRing(t testing.TB) *Ring {
	t.Helper()
	f, err := NewFile(now)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRing(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func room() gate.Room {
	r := gate.DefaultRoom()
	r.ID, r.Audience = "demo", "shop"
	return r
}

func grant() gate.Grant {
	return gate.Grant{Ticket: gate.Ticket{Epoch: 7, Number: 42, Run: 9}, Room: room(), At: now, Until: now.Add(15 * time.Minute)}
}

func (r *Ring) mustAccess(t testing.TB, g gate.Grant) string {
	t.Helper()
	raw, err := r.Access(g, now)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestRoundTrips(t *testing.T) {
	r, place := newRing(t), gate.Ticket{Epoch: 7, Number: 42, Run: 9, Turn: 3}
	demo := room()
	raw, err := r.Queue(&demo, place, now)
	if err != nil {
		t.Fatal(err)
	}
	if id, got, err := r.ParseQueue(raw, now.Add(time.Hour)); err != nil || id != "demo" || got != place {
		t.Errorf("queue token: %s, %+v, %v", id, got, err)
	}
	access := r.mustAccess(t, grant())
	a, err := VerifyAccess(r.Keys(now), access, "shop", now)
	if err != nil || a.Room != "demo" || a.Ticket != 42 || a.Audience != "shop" || !a.Expires.Equal(now.Add(15*time.Minute)) || a.ID == "" {
		t.Errorf("access token: %+v, %v", a, err)
	}
	if again := r.mustAccess(t, grant()); again != access {
		t.Error("the same grant has two tokens")
	}
	if id, got, err := r.ParseResume(r.Resume("demo", place)); err != nil || id != "demo" || got.Number != 42 || got.Epoch != 7 || got.Run != 9 {
		t.Errorf("resume secret: %s, %+v, %v", id, got, err)
	}
}

func TestResumeSecretsCannotBeMade(t *testing.T) {
	r := newRing(t)
	secret := r.Resume("demo", gate.Ticket{Number: 1})
	_, raw, _ := strings.Cut(secret, ".")
	for _, s := range []string{"", "demo", "demo.", "other." + raw, secret + "A", newRing(t).Resume("demo", gate.Ticket{Number: 1})} {
		if _, _, err := r.ParseResume(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// forge makes a token of any header and claims, signed by sign.
func forge(t *testing.T, head, claims map[string]any, sign func(string) []byte) string {
	t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	body := part(head) + "." + part(claims)
	return body + "." + base64.RawURLEncoding.EncodeToString(sign(body))
}

// TestForgedAccessTokens tries what is tried against such tokens. The first is
// good, so that the others fail for the reason they should.
func TestForgedAccessTokens(t *testing.T) {
	r := newRing(t)
	key := r.now.Load().list[0]
	private, other := key.JWK.Key.(ed25519.PrivateKey), ed25519.NewKeyFromSeed(make([]byte, 32))
	by := func(k ed25519.PrivateKey) func(string) []byte {
		return func(s string) []byte { return ed25519.Sign(k, []byte(s)) }
	}
	hs256 := func(s string) []byte {
		mac := hmac.New(sha256.New, private.Public().(ed25519.PublicKey))
		mac.Write([]byte(s))
		return mac.Sum(nil)
	}
	head := map[string]any{"alg": "EdDSA", "kid": key.JWK.KeyID, "typ": string(accessType)}
	claims := map[string]any{"iss": "concert", "aud": "shop", "sub": "demo/42", "jti": "x", "room": "demo", "ticket": 42,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	with := func(m map[string]any, key string, value any) map[string]any {
		m = maps.Clone(m)
		if m[key] = value; value == nil {
			delete(m, key)
		}
		return m
	}
	f := func(name, raw string, want bool) {
		t.Helper()
		if _, err := VerifyAccess(r.Keys(now), raw, "shop", now); (err == nil) != want || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	jwk, _ := json.Marshal(jose.JSONWebKey{Key: other.Public()})
	f("good", forge(t, head, claims, by(private)), true)
	f("alg none", forge(t, with(head, "alg", "none"), claims, func(string) []byte { return nil }), false)
	f("alg None with a signature", forge(t, with(head, "alg", "None"), claims, by(private)), false)
	f("HS256 with the public key", forge(t, with(head, "alg", "HS256"), claims, hs256), false)
	f("a MAC that calls itself EdDSA", forge(t, head, claims, hs256), false)
	f("another key", forge(t, head, claims, by(other)), false)
	f("another key's id", forge(t, with(head, "kid", "other"), claims, by(private)), false)
	f("no key id", forge(t, with(head, "kid", nil), claims, by(private)), false)
	f("a key of its own", forge(t, with(with(head, "kid", nil), "jwk", json.RawMessage(jwk)), claims, by(other)), false)
	f("a queue token", forge(t, with(head, "typ", string(queueType)), claims, by(private)), false)
	f("no type", forge(t, with(head, "typ", nil), claims, by(private)), false)
	f("another audience", forge(t, head, with(claims, "aud", "bank"), by(private)), false)
	f("no audience", forge(t, head, with(claims, "aud", nil), by(private)), false)
	f("another issuer", forge(t, head, with(claims, "iss", "me"), by(private)), false)
	f("expired", forge(t, head, with(claims, "exp", now.Add(-time.Minute).Unix()), by(private)), false)
	f("no end", forge(t, head, with(claims, "exp", nil), by(private)), false)
	f("of the future", forge(t, head, with(claims, "iat", now.Add(time.Hour).Unix()), by(private)), false)
	f("not yet", forge(t, head, with(claims, "nbf", now.Add(time.Hour).Unix()), by(private)), false)
	f("no id", forge(t, head, with(claims, "jti", nil), by(private)), false)
	f("critical extension", forge(t, with(head, "crit", []string{"x"}), claims, by(private)), false)
	f("two tokens", forge(t, head, claims, by(private))+"."+forge(t, head, claims, by(private)), false)
	f("nothing", "", false)
	f("far too long", strings.Repeat("A", MaxToken+1), false)
	if _, err := VerifyAccess(r.Keys(now), forge(t, head, with(claims, "aud", gate.QueueAudience), by(private)), gate.QueueAudience, now); err == nil {
		t.Error("a site took the audience of queue tokens")
	}
	if _, _, err := r.ParseQueue(r.mustAccess(t, grant()), now); !errors.Is(err, ErrInvalid) {
		t.Errorf("an access token in place of a queue token: %v", err)
	}
}

// TestRotation goes through the life of two keys.
func TestRotation(t *testing.T) {
	f, err := NewFile(now)
	if err != nil {
		t.Fatal(err)
	}
	first := f.Keys[0].JWK.KeyID
	if err := f.Rotate(now); err != nil {
		t.Fatal(err)
	}
	r, err := NewRing(f)
	if err != nil {
		t.Fatal(err)
	}
	g := grant()
	old, _ := r.Access(g, now.Add(publishFirst-time.Second))
	g.At, g.Until = now.Add(publishFirst), now.Add(time.Hour)
	young, _ := r.Access(g, now.Add(publishFirst))
	before := r.Keys(now) // as a site cached it
	if len(before.Keys) != 2 || keyOf(t, old) != first || keyOf(t, young) == first {
		t.Errorf("%d keys published, signed by %s and %s", len(before.Keys), keyOf(t, old), keyOf(t, young))
	}
	for _, raw := range []string{old, young} {
		if _, err := VerifyAccess(before, raw, "shop", now.Add(publishFirst)); err != nil {
			t.Error(err)
		}
	}
	late := now.Add(publishFirst + publishAfter)
	if after := r.Keys(late); len(after.Keys) != 1 || after.Keys[0].KeyID == first {
		t.Errorf("%d keys published in the end", len(after.Keys))
	}
	if err := f.Rotate(late); err != nil || len(f.Keys) != 2 {
		t.Errorf("%d keys after another rotation: %v", len(f.Keys), err)
	}
}

func keyOf(t *testing.T, raw string) string {
	t.Helper()
	s, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		t.Fatal(err)
	}
	return s.Signatures[0].Header.KeyID
}

func TestPublishedKeysHoldNoSecret(t *testing.T) {
	b, err := json.Marshal(newRing(t).Keys(now))
	if err != nil {
		t.Fatal(err)
	}
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(b, &set); err != nil || len(set.Keys) != 1 {
		t.Fatalf("%s: %v", b, err)
	}
	k := set.Keys[0]
	if k["d"] != "" || k["kty"] != "OKP" || k["crv"] != "Ed25519" || k["alg"] != "EdDSA" || k["use"] != "sig" || k["x"] == "" || k["kid"] == "" {
		t.Errorf("%s", b)
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys.json")
	if _, err := Open(path, false, now); !errors.Is(err, ErrNoFile) || !strings.Contains(err.Error(), "concert keys new") {
		t.Errorf("no file: %v", err)
	}
	r, err := Open(path, true, now)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	again, err := Open(path, false, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyAccess(again.Keys(now), r.mustAccess(t, grant()), "shop", now); err != nil {
		t.Error(err)
	}
	f, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(path, true); !errors.Is(err, os.ErrExist) {
		t.Errorf("written over: %v", err)
	}
	if err := errors.Join(f.Rotate(now), f.Write(path, false), r.reload(now)); err != nil || len(r.Keys(now).Keys) != 2 {
		t.Errorf("after a rotation: %d keys, %v", len(r.Keys(now).Keys), err)
	}
	for _, text := range []string{"", "{}", `{"version":2}`, `{"version":1,"resume_secret":"QUFB","keys":[]}`, `{"version":1,"x":1}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.reload(now); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		}
		if len(r.Keys(now).Keys) != 2 {
			t.Error("a bad file changed the keys")
		}
	}
	if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
		t.Errorf("left behind: %v", names)
	}
}

func FuzzVerifyAccess(f *testing.F) {
	r := newRing(f)
	good := r.mustAccess(f, grant())
	f.Add(good)
	f.Add("a.b.c")
	f.Add("")
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := VerifyAccess(r.Keys(now), raw, "shop", now); err == nil && raw != good {
			t.Errorf("%q is taken", raw)
		}
	})
}

func BenchmarkQueue(b *testing.B) {
	r, demo := newRing(b), room()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Queue(&demo, gate.Ticket{Number: 1}, now); err != nil {
			b.Fatal(err)
		}
	}
}
