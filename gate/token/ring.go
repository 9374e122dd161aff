package token

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
	"github.com/andreimerlescu/concert/signed"
	"github.com/go-jose/go-jose/v4"
)

const (
	thumbprintHash = crypto.SHA256
	resumePurpose  = "gate-resume"
	lookEvery      = 2 * time.Second
)

// Ring makes tokens with the keys of a file. Use [Open] or [NewRing].
type Ring struct {
	path string
	now  atomic.Pointer[keys]
}

// keys are a file's, ready for use.
type keys struct {
	list    []prepared
	resume  *signed.Keyring
	changed time.Time // of the file
}

type prepared struct {
	Key
	queue, access jose.Signer
	public        jose.JSONWebKey
}

// NewRing makes a ring of a file's content that is not looked at again.
func NewRing(f *File) (*Ring, error) {
	k, err := prepare(f)
	if err != nil {
		return nil, err
	}
	r := &Ring{}
	r.now.Store(k)
	return r, nil
}

// Open makes a ring of a file. Where there is none, it is made if create is
// set; the error wraps ErrNoFile otherwise.
func Open(path string, create bool, now time.Time) (*Ring, error) {
	f, err := ReadFile(path)
	if errors.Is(err, ErrNoFile) && create {
		if f, err = NewFile(now); err == nil {
			err = f.Write(path, true)
		}
	}
	if err != nil {
		return nil, err
	}
	r, err := NewRing(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.path = path
	r.now.Load().changed = changedAt(path)
	return r, nil
}

func changedAt(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Watch reads the file again when it changes, until ctx ends. A file that
// cannot be read changes nothing.
func (r *Ring) Watch(ctx context.Context, log *slog.Logger) {
	if r.path == "" {
		return
	}
	ticks.Each(ctx, lookEvery, func(time.Time) {
		changed := changedAt(r.path)
		if changed.IsZero() || changed.Equal(r.now.Load().changed) {
			return
		}
		if err := r.reload(changed); err != nil {
			log.Error("the keys stay as they were", "error", err)
			return
		}
		log.Info("keys read again", "file", r.path)
	})
}

// reload reads the file. A bad one is not read twice.
func (r *Ring) reload(changed time.Time) error {
	f, err := ReadFile(r.path)
	if err == nil {
		var k *keys
		if k, err = prepare(f); err == nil {
			k.changed = changed
			r.now.Store(k)
			return nil
		}
	}
	same := *r.now.Load()
	same.changed = changed
	r.now.Store(&same)
	return err
}

func prepare(f *File) (*keys, error) {
	k := &keys{}
	var err error
	if k.resume, err = signed.NewKeyring([][]byte{f.Secret}, resumePurpose); err != nil {
		return nil, err
	}
	for _, key := range f.Keys {
		p := prepared{Key: key, public: key.JWK.Public()}
		p.public.Algorithm, p.public.Use = string(jose.EdDSA), "sig"
		if p.queue, err = newSigner(key.JWK, queueType); err != nil {
			return nil, err
		}
		if p.access, err = newSigner(key.JWK, accessType); err != nil {
			return nil, err
		}
		k.list = append(k.list, p)
	}
	return k, nil
}

func newSigner(k jose.JSONWebKey, kind jose.ContentType) (jose.Signer, error) {
	private, ok := k.Key.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("a key is no private Ed25519 key")
	}
	s, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: k.KeyID}},
		(&jose.SignerOptions{}).WithType(kind))
	if err != nil {
		return nil, fmt.Errorf("prepare key %s: %w", k.KeyID, err)
	}
	return s, nil
}

// signer is the youngest key whose time has come; the first when none has.
func (k *keys) signer(now time.Time) *prepared {
	best := &k.list[0]
	for i := range k.list {
		if p := &k.list[i]; !p.From.After(now) && !p.From.Before(best.From) {
			best = p
		}
	}
	return best
}

// Keys is the set of public keys to be published now (RFC 7517, section 5).
func (r *Ring) Keys(now time.Time) *jose.JSONWebKeySet {
	set := &jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, p := range r.now.Load().list {
		if p.Until.IsZero() || p.Until.After(now) {
			set.Keys = append(set.Keys, p.public)
		}
	}
	return set
}
