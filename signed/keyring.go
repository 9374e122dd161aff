package signed

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
)

const (
	// MaxPayload is the most bytes a token can carry.
	MaxPayload = 256
	// maxToken is the length of the longest token, in characters.
	maxToken = ((1+idSize+MaxPayload+macSize)*8 + 5) / 6

	version = 1
	idSize  = 4
	minRaw  = 1 + idSize + macSize
)

// encoding refuses spare bits that are not zero. It skips line ends even so;
// decode does not.
var encoding = base64.RawURLEncoding.Strict()

// Verdict is what [Keyring.Open] thinks of a token.
type Verdict uint8

const (
	// Missing: there is no token, only empty text.
	Missing Verdict = iota
	// Valid: made by the holder of one of the secrets, for this purpose.
	Valid
	// Stale: of a version or of a key not known here, such as one from before
	// a restart or rotation. Honest clients bring these.
	Stale
	// Forged: altered or made up.
	Forged
)

// String returns the verdict in lower case, for logs and metric labels.
func (v Verdict) String() string {
	switch v {
	case Missing:
		return "missing"
	case Valid:
		return "valid"
	case Stale:
		return "stale"
	case Forged:
		return "forged"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

type key struct {
	id   [idSize]byte
	macs *macs
}

// Keyring signs and checks the tokens of one purpose. Use [NewKeyring].
type Keyring struct {
	keys []key // the first one signs
}

// NewKeyring derives the keys for purpose from the secrets, of which there
// must be at least one of at least [MinSecret] bytes each. The purpose is part
// of the keys: changing it makes every token made so far stale.
func NewKeyring(secrets [][]byte, purpose string) (*Keyring, error) {
	if len(secrets) == 0 {
		return nil, fmt.Errorf("derive keys for %q: no secret given", purpose)
	}
	k := &Keyring{keys: make([]key, len(secrets))}
	for i, secret := range secrets {
		if err := checkLength(i, len(secrets), secret); err != nil {
			return nil, fmt.Errorf("derive keys for %q: %w", purpose, err)
		}
		material, err := hkdf.Key(sha256.New, secret, nil, "concert/"+purpose, sha256.Size+idSize)
		if err != nil {
			return nil, fmt.Errorf("derive keys for %q: %w", purpose, err)
		}
		k.keys[i].macs = newMACs(material[:sha256.Size])
		copy(k.keys[i].id[:], material[sha256.Size:])
	}
	return k, nil
}

// Format keeps the keys out of logs, whatever the verb.
func (k *Keyring) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "signed.Keyring")
}

// AppendToken appends to dst a token that carries payload, and returns dst. It
// panics when payload is longer than [MaxPayload].
func (k *Keyring) AppendToken(dst, payload []byte) []byte {
	if len(payload) > MaxPayload {
		panic(fmt.Sprintf("BUG: signed: payload of %d bytes, at most %d", len(payload), MaxPayload))
	}
	var buf [maxRaw]byte
	signer := &k.keys[0]
	raw := append(buf[:0], version)
	raw = append(raw, signer.id[:]...)
	raw = append(raw, payload...)
	sum := signer.macs.of(raw)
	raw = append(raw, sum[:macSize]...)
	return encoding.AppendEncode(dst, raw)
}

// Open checks token and, when it is Valid, appends its payload to dst. With
// any other verdict dst comes back as it was.
func (k *Keyring) Open(dst []byte, token string) ([]byte, Verdict) {
	if token == "" {
		return dst, Missing
	}
	var buf [maxRaw]byte
	raw := buf[:decode(buf[:], token)]
	switch {
	case len(raw) == 0:
		return dst, Forged
	case raw[0] != version:
		return dst, Stale
	case len(raw) < minRaw:
		return dst, Forged
	}
	body, sum := raw[:len(raw)-macSize], raw[len(raw)-macSize:]
	verdict := k.check(body, sum)
	if verdict == Valid {
		dst = append(dst, body[1+idSize:]...)
	}
	return dst, verdict
}

// Signs reports whether a token that Open found Valid is what AppendToken would
// make of its payload now: whether the key that signs has signed it.
func (k *Keyring) Signs(token string) bool {
	const head = 8 // characters that hold the version and the key's id
	if len(token) < head {
		return false
	}
	var raw [head * 6 / 8]byte
	if _, err := encoding.Decode(raw[:], []byte(token[:head])); err != nil {
		return false
	}
	id := [idSize]byte(raw[1:])
	for i := range k.keys[1:] {
		if k.keys[1+i].id == id { // it may be that one's as well
			return false
		}
	}
	return raw[0] == version && k.keys[0].id == id
}

// check looks for a key whose MAC over the body is the given one. Ids are short,
// so two secrets may share one.
func (k *Keyring) check(body, sum []byte) Verdict {
	verdict := Stale
	for i := range k.keys {
		key := &k.keys[i]
		if [idSize]byte(body[1:]) != key.id {
			continue
		}
		want := key.macs.of(body)
		if subtle.ConstantTimeCompare(want[:macSize], sum) == 1 {
			return Valid
		}
		verdict = Forged
	}
	return verdict
}

// decode writes the bytes of token to dst and returns how many, or 0 when
// token is not what encoding them would give, or longer than any token.
func decode(dst []byte, token string) int {
	if len(token) > maxToken {
		return 0
	}
	n, err := encoding.Decode(dst, []byte(token)) // which does not write to it, so nothing is copied
	if err != nil || encoding.EncodedLen(n) != len(token) {
		return 0
	}
	return n
}
