package protect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/signed"
	"github.com/go-jose/go-jose/v4"
)

// sessionPurpose is part of the key of session cookies.
const sessionPurpose = "gate-session"

// Guard lets in those who have waited. Use [New].
type Guard struct {
	o        Options
	keys     keys
	sessions *signed.Keyring
}

// New makes a Guard. The error joins everything that is wrong with the options.
func New(o Options) (*Guard, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("protect: %w", err)
	}
	g := &Guard{o: o}
	var err error
	g.sessions, err = signed.NewKeyring([][]byte{o.SessionKey}, sessionPurpose+"/"+o.Room+"/"+o.Audience)
	return g, err
}

// gating reports whether visitors without access are sent away.
func (g *Guard) gating() bool { return g.o.WaitingRoomURL != "" && g.o.Room != "" }

// check verifies an access token offline. An error that does not wrap
// token.ErrInvalid says that it cannot be told.
func (g *Guard) check(ctx context.Context, raw string) (token.Access, error) {
	parsed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil || len(raw) > token.MaxToken {
		return token.Access{}, fmt.Errorf("%w: it is no token", token.ErrInvalid)
	}
	set, err := g.keys.get(ctx, &g.o, parsed.Signatures[0].Header.KeyID)
	if err != nil {
		return token.Access{}, err
	}
	a, err := token.VerifyAccess(set, raw, g.o.Audience, g.o.Now())
	if err == nil && g.o.Room != "" && a.Room != g.o.Room {
		err = fmt.Errorf("%w: it is of room %q", token.ErrInvalid, a.Room)
	}
	return a, err
}

// spend has the waiting room mark the token as used; the first to ask gets nil.
func (g *Guard) spend(ctx context.Context, raw string) error {
	if g.o.ValidateURL == "" {
		return nil
	}
	body, err := json.Marshal(map[string]any{"token": raw, "audience": g.o.Audience, "one_time": true})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.o.ValidateURL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := g.o.Client.Do(req)
	if err != nil {
		return fmt.Errorf("validate the token: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // only read
	var answer struct {
		Valid *bool  `json:"valid"`
		Code  string `json:"code"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeyBytes)).Decode(&answer); err != nil {
		return fmt.Errorf("validate the token: status %d: %w", resp.StatusCode, err)
	}
	switch {
	case resp.StatusCode == http.StatusOK && answer.Valid != nil && *answer.Valid:
		return nil
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s", token.ErrInvalid, answer.Code)
	}
	return fmt.Errorf("validate the token: status %d", resp.StatusCode)
}

// admit checks a token that was brought, and uses it up where tokens are taken
// once.
func (g *Guard) admit(ctx context.Context, raw string) (token.Access, error) {
	a, err := g.check(ctx, raw)
	if err == nil {
		err = g.spend(ctx, raw)
	}
	if err != nil && !errors.Is(err, token.ErrInvalid) {
		g.o.Log.Error("a token could not be checked", "error", err)
	}
	return a, err
}
