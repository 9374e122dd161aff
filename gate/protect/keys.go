package protect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	keepKeys    = 5 * time.Minute
	lookAgain   = 10 * time.Second // the least time between two requests for the keys
	maxKeyBytes = 64 << 10
)

// keys are the waiting room's public ones.
type keys struct {
	mu      sync.Mutex          // guards the fields below, also while the keys are fetched
	set     *jose.JSONWebKeySet // nil: none yet; never changed
	fetched time.Time
	tried   time.Time
}

// get returns the keys, which know the id if anybody does.
func (k *keys) get(ctx context.Context, o *Options, id string) (*jose.JSONWebKeySet, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := o.Now()
	fresh := k.set != nil && now.Sub(k.fetched) < keepKeys
	if fresh && len(k.set.Key(id)) > 0 || k.set != nil && now.Sub(k.tried) < lookAgain {
		return k.set, nil
	}
	k.tried = now
	set, err := fetchKeys(ctx, o)
	switch {
	case err == nil:
		k.set, k.fetched = set, now
	case k.set != nil:
		o.Log.Warn("the keys of the waiting room are old", "fetched", k.fetched, "error", err)
	default:
		return nil, err
	}
	return k.set, nil
}

func fetchKeys(ctx context.Context, o *Options) (*jose.JSONWebKeySet, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.JWKSURL, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch the keys: %w", err)
	}
	resp, err := o.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch the keys: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeyBytes))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	set := &jose.JSONWebKeySet{}
	if err == nil {
		err = json.Unmarshal(body, set)
	}
	if err == nil && len(set.Keys) == 0 {
		err = errors.New("there are none")
	}
	if err != nil {
		return nil, fmt.Errorf("fetch the keys from %s: %w", o.JWKSURL, err)
	}
	return set, nil
}
