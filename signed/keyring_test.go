package signed

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// newKeyring returns a keyring for the purpose "test"; each secret is its
// letter repeated.
func newKeyring(t testing.TB, letters ...string) *Keyring {
	t.Helper()
	return newKeyringFor(t, "test", letters...)
}

func newKeyringFor(t testing.TB, purpose string, letters ...string) *Keyring {
	t.Helper()
	var secrets [][]byte
	for _, s := range letters {
		secrets = append(secrets, bytes.Repeat([]byte(s), MinSecret))
	}
	k, err := NewKeyring(secrets, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// wantOpen checks the verdict, and the payload if there should be one.
func wantOpen(t *testing.T, k *Keyring, token string, want Verdict, payload string) {
	t.Helper()
	got, verdict := k.Open([]byte("before "), token)
	if verdict != want || string(got) != "before "+payload {
		t.Errorf("open %q: %v, %q; want %v, %q", token, verdict, got, want, "before "+payload)
	}
}

// recode replaces the bytes of a token by what change makes of them.
func recode(t *testing.T, token string, change func(raw []byte) []byte) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(change(raw))
}

func TestRoundTripAtEveryLength(t *testing.T) {
	k := newKeyring(t, "a")
	for n := range MaxPayload + 1 {
		payload := strings.Repeat("p", n)
		token := k.AppendToken([]byte("kept "), []byte(payload))
		if !bytes.HasPrefix(token, []byte("kept ")) {
			t.Fatalf("%q does not begin with what was there", token)
		}
		wantOpen(t, k, string(token[len("kept "):]), Valid, payload)
	}
	if longest := k.AppendToken(nil, make([]byte, MaxPayload)); len(longest) != maxToken {
		t.Errorf("longest token has %d characters, MaxToken is %d", len(longest), maxToken)
	}
}

// The format and the derivation of keys are a promise to tokens already given
// out, so they are computed here once more, with the library's own HMAC.
func TestFormat(t *testing.T) {
	material, err := hkdf.Key(sha256.New, bytes.Repeat([]byte("a"), 32), nil, "concert/test", 36)
	if err != nil {
		t.Fatal(err)
	}
	body := append([]byte{1}, material[32:]...)
	body = append(body, "payload"...)
	mac := hmac.New(sha256.New, material[:32])
	mac.Write(body)
	want := base64.RawURLEncoding.EncodeToString(append(body, mac.Sum(nil)[:16]...))

	if got := string(newKeyring(t, "a").AppendToken(nil, []byte("payload"))); got != want {
		t.Errorf("token %q, want %q", got, want)
	}
}

func TestRotation(t *testing.T) {
	old, both, next := newKeyring(t, "a"), newKeyring(t, "b", "a"), newKeyring(t, "b")
	fromOld := string(old.AppendToken(nil, []byte("x")))
	fromBoth := string(both.AppendToken(nil, []byte("y")))

	wantOpen(t, both, fromOld, Valid, "x")
	wantOpen(t, both, fromBoth, Valid, "y")
	wantOpen(t, next, fromBoth, Valid, "y")
	wantOpen(t, next, fromOld, Stale, "")
	wantOpen(t, old, fromBoth, Stale, "")
}

func TestPurposesAreApart(t *testing.T) {
	token := string(newKeyringFor(t, "pass", "a").AppendToken(nil, []byte("x")))
	wantOpen(t, newKeyringFor(t, "ticket", "a"), token, Stale, "")
}

func TestEveryChangedBitIsNoticed(t *testing.T) {
	k := newKeyring(t, "a")
	token := string(k.AppendToken(nil, []byte("payload")))
	size := base64.RawURLEncoding.DecodedLen(len(token))
	for bit := range size * 8 {
		want := Forged
		if bit/8 < 1+idSize { // the version and the key id
			want = Stale
		}
		wantOpen(t, k, recode(t, token, func(raw []byte) []byte {
			raw[bit/8] ^= 1 << (bit % 8)
			return raw
		}), want, "")
	}
}

// Ids have 32 bits, so two secrets may come to share one.
func TestSecretsThatShareAnID(t *testing.T) {
	k := newKeyring(t, "a", "b")
	k.keys[0].id = k.keys[1].id
	body := newKeyring(t, "b")
	wantOpen(t, k, string(body.AppendToken(nil, []byte("x"))), Valid, "x")
}

func TestVerdicts(t *testing.T) {
	k := newKeyring(t, "a")
	token := string(k.AppendToken(nil, []byte("12"))) // 23 bytes: one unused pair of bits at the end
	spare := token[:len(token)-1] + string(nextLetter(token[len(token)-1]))
	cut := func(n int) string {
		return recode(t, token, func(raw []byte) []byte { return raw[:n] })
	}
	tests := []struct {
		name, token string
		want        Verdict
	}{
		{"empty", "", Missing},
		{"another version, longer", recode(t, token, func(raw []byte) []byte {
			raw[0]++
			return append(raw, "more"...)
		}), Stale},
		{"another version, one byte", base64.RawURLEncoding.EncodeToString([]byte{9}), Stale},
		{"version only", cut(1), Forged},
		{"shorter than a token without payload", cut(minRaw - 1), Forged},
		{"shorter than that, of another key", recode(t, string(newKeyring(t, "b").AppendToken(nil, nil)),
			func(raw []byte) []byte { return raw[:minRaw-1] }), Forged},
		{"cut", cut(minRaw), Forged},
		{"lengthened", recode(t, token, func(raw []byte) []byte { return append(raw, 0) }), Forged},
		{"spare bits set", spare, Forged},
		{"padded", token + "=", Forged},
		{"line end within", token[:8] + "\n" + token[8:], Forged},
		{"line end behind", token + "\r\n", Forged},
		{"quoted", `"` + token + `"`, Forged},
		{"other alphabet", strings.Repeat("+/", 20), Forged},
		{"one letter", "x", Forged},
		{"words", "no token at all", Forged},
		{"too long", strings.Repeat("A", maxToken+1), Forged},
		{"far too long", strings.Repeat("A", 1<<16), Forged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { wantOpen(t, k, tt.token, tt.want, "") })
	}
}

// nextLetter returns a letter of the alphabet that differs in its lowest bit.
func nextLetter(c byte) byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return alphabet[strings.IndexByte(alphabet, c)^1]
}

func TestKeyringIsNotPrinted(t *testing.T) {
	k := newKeyring(t, "a")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		if got := fmt.Sprintf(verb, k); got != "signed.Keyring" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

func TestNewKeyringRefuses(t *testing.T) {
	tests := []struct {
		secrets [][]byte
		want    string
	}{
		{nil, `derive keys for "pass": no secret given`},
		{[][]byte{RandomSecret(), []byte("short")},
			`derive keys for "pass": secret 2 of 2 has 5 bytes, need at least 32`},
	}
	for _, tt := range tests {
		if _, err := NewKeyring(tt.secrets, "pass"); err == nil || err.Error() != tt.want {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
}

func TestPayloadTooLongPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	newKeyring(t, "a").AppendToken(nil, make([]byte, MaxPayload+1))
}

// What a key has signed that signs no more is to be signed again.
func TestSigns(t *testing.T) {
	old, now := newKeyring(t, "a"), newKeyring(t, "b", "a")
	for _, tt := range []struct {
		name  string
		token string
		want  bool
	}{
		{"the first key's", string(now.AppendToken(nil, []byte("0123456789abcdef"))), true},
		{"an older key's", string(old.AppendToken(nil, []byte("0123456789abcdef"))), false},
		{"a stranger's", string(newKeyring(t, "c").AppendToken(nil, nil)), false},
		{"none", "", false},
		{"no token", "!!!!!!!!!!!!", false},
	} {
		if got := now.Signs(tt.token); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
