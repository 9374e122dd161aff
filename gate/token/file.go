package token

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	fileVersion = 1
	secretBytes = 32
	// publishFirst is how long a new key is published before it signs: longer
	// than any site may keep the key set.
	publishFirst = 10 * time.Minute
	// longestToken is the longest life of a token; see gate.Room.Check.
	longestToken = 7 * 24 * time.Hour
	// publishAfter is how long a key is published after it signed last.
	publishAfter = longestToken + time.Hour
)

// File is a key file. Whoever reads it can make tokens.
type File struct {
	Version int `json:"version"`
	// Secret is what resume secrets are made with.
	Secret []byte `json:"resume_secret"`
	Keys   []Key  `json:"keys"` // the oldest first
}

// Key is a key pair and the time it is used.
type Key struct {
	JWK   jose.JSONWebKey `json:"key"`
	From  time.Time       `json:"signs_from"`
	Until time.Time       `json:"published_until,omitzero"` // zero: no end yet
}

// NewFile makes a key file with one key, which signs at once.
func NewFile(now time.Time) (*File, error) {
	f := &File{Version: fileVersion, Secret: make([]byte, secretBytes)}
	rand.Read(f.Secret) // never fails
	return f, f.add(now)
}

// add makes a key that signs from then on.
func (f *File) add(from time.Time) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	k := jose.JSONWebKey{Key: private, Algorithm: string(jose.EdDSA), Use: "sig"}
	// The id is the thumbprint (RFC 7638): the same key has the same id.
	sum, err := (&jose.JSONWebKey{Key: public}).Thumbprint(thumbprintHash)
	if err != nil {
		return fmt.Errorf("name a key: %w", err)
	}
	k.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	f.Keys = append(f.Keys, Key{JWK: k, From: from.UTC().Truncate(time.Second)})
	return nil
}

// Rotate adds a key that signs from publishFirst on, ends the others once
// nothing they signed can be valid, and removes those that have ended.
func (f *File) Rotate(now time.Time) error {
	from := now.Add(publishFirst)
	var left []Key
	for _, k := range f.Keys {
		if k.Until.IsZero() {
			k.Until = from.Add(publishAfter).UTC().Truncate(time.Second)
		}
		if k.Until.After(now) {
			left = append(left, k)
		}
	}
	f.Keys = left
	return f.add(from)
}

// parseFile reads a key file and reports what is wrong with it.
func parseFile(text []byte) (*File, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	f := &File{}
	if err := dec.Decode(f); err != nil {
		return nil, fmt.Errorf("it is no key file: %w", err)
	}
	switch {
	case f.Version != fileVersion:
		return nil, fmt.Errorf("it has version %d, this Concert reads version %d", f.Version, fileVersion)
	case len(f.Secret) < secretBytes:
		return nil, fmt.Errorf("resume_secret has %d bytes, want at least %d", len(f.Secret), secretBytes)
	case len(f.Keys) == 0:
		return nil, errors.New("it has no keys")
	}
	seen := map[string]bool{}
	for i, k := range f.Keys {
		private, ok := k.JWK.Key.(ed25519.PrivateKey)
		switch {
		case !ok || len(private) != ed25519.PrivateKeySize || !k.JWK.Valid():
			return nil, fmt.Errorf("key %d is no private Ed25519 key", i+1)
		case k.JWK.KeyID == "" || seen[k.JWK.KeyID]:
			return nil, fmt.Errorf("key %d has no kid of its own", i+1)
		}
		seen[k.JWK.KeyID] = true
	}
	return f, nil
}

// ErrNoFile is the error of a key file that does not exist.
var ErrNoFile = errors.New("there is no such key file")

// ReadFile reads a key file.
func ReadFile(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: make one with concert keys new %s", path, ErrNoFile, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	f, err := parseFile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Encode returns the file's content.
func (f *File) Encode() ([]byte, error) {
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the keys: %w", err)
	}
	return append(text, '\n'), nil
}

// Write writes the file, readable by its owner alone. fresh refuses to write
// over one. All of it is on disk when it returns nil, and nothing has changed
// otherwise.
func (f *File) Write(path string, fresh bool) (err error) {
	text, err := f.Encode()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return fmt.Errorf("write the keys: %w", err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // which is gone when all went well
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write the keys: %w", err)
	}
	if fresh {
		if err := os.Link(tmp.Name(), path); err != nil { // unlike a rename, not over a file
			return fmt.Errorf("write the keys: %w", err)
		}
		return nil
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("write the keys: %w", err)
	}
	return nil
}
