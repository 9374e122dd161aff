package pass

import (
	"crypto/rand"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// Stage checks and issues passes. Use [New].
type Stage struct {
	settings atomic.Pointer[settings]

	issued, renewed           atomic.Uint64
	stale                     atomic.Uint64
	assetDenied, streamDenied atomic.Uint64
}

var (
	_ pipeline.Stage          = (*Stage)(nil)
	_ pipeline.ResponseEditor = (*Stage)(nil)
)

// Refusals are shared values: turning away a crowd allocates nothing.
var (
	assetDenied  = &pipeline.Refusal{Reason: pipeline.AssetDenied}
	streamDenied = &pipeline.Refusal{Reason: pipeline.StreamDenied}
)

// New builds the stage. The error names every setting that is out of bounds.
func New(c Config) (*Stage, error) {
	s := &Stage{}
	if err := s.Apply(c); err != nil {
		return nil, err
	}
	return s, nil
}

// Apply replaces the configuration; on an error it changes nothing.
func (s *Stage) Apply(c Config) error {
	made, err := newSettings(c)
	if err != nil {
		return err
	}
	s.settings.Store(made)
	return nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "pass" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes {
	return pipeline.ClassesOf(pipeline.Page, pipeline.Asset, pipeline.Stream)
}

// Enter sets v.Pass, sees to it that the response renews it if need be, and
// refuses assets and streams without a valid one.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	now := v.Start.Unix()
	state, t := s.settings.Load().best(v.R.Header, now)
	v.Pass = pipeline.Pass{State: state, ID: t.id}
	switch state {
	case pipeline.PassForged:
		v.Strike(pipeline.StrikeForgedPass)
	case pipeline.PassStale:
		s.stale.Add(1)
	case pipeline.PassValid:
		if t.slides(now) {
			v.OnResponse(s)
		}
		return pipeline.Next, nil
	}
	switch v.Class {
	case pipeline.Asset:
		s.assetDenied.Add(1)
		return pipeline.Answered, assetDenied
	case pipeline.Stream:
		s.streamDenied.Add(1)
		return pipeline.Answered, streamDenied
	}
	v.OnResponse(s)
	return pipeline.Next, nil
}

// Opens reports whether a visit brings a valid pass.
func (s *Stage) Opens(v *pipeline.Visit) bool {
	state, _ := s.settings.Load().best(v.R.Header, v.Start.Unix())
	return state == pipeline.PassValid
}

// EditResponse gives the visitor a pass: the one they have, signed anew, or a
// new one.
func (s *Stage) EditResponse(v *pipeline.Visit, _ int, h http.Header) {
	if v.Pass.State == pipeline.PassValid || v.Pass.State == pipeline.PassExpired {
		s.renewed.Add(1)
	} else {
		_, _ = rand.Read(v.Pass.ID[:]) // never fails
		s.issued.Add(1)
	}
	v.Pass.State = pipeline.PassValid
	now := time.Now() // the visit may have waited long since it came
	cookies.KeepPrivate(h, now)
	c := s.settings.Load()
	h["Set-Cookie"] = append(h["Set-Cookie"], c.setCookie(newToken(v.Pass.ID, now, c.TTL), v.R.TLS != nil))
}

// setCookie returns the Set-Cookie line for a pass.
func (c *settings) setCookie(t token, tls bool) string {
	var payload [payloadSize]byte
	b := c.cookie.Begin(make([]byte, 0, 256))
	b = c.Keyring.AppendToken(b, t.appendPayload(payload[:0]))
	return string(c.cookie.End(b, tls))
}

// best returns what the best of the request's passes is. The token is the zero
// one unless it is authentic.
func (c *settings) best(h http.Header, now int64) (state pipeline.PassState, best token) {
	for value := range cookies.Each(h, c.cookieName) {
		s, t := c.judge(value, now)
		if rank(s) > rank(state) || s == state && t.expires > best.expires {
			state, best = s, t
		}
	}
	return state, best
}

// judge says what one cookie's value is.
func (c *settings) judge(value string, now int64) (pipeline.PassState, token) {
	var buf [signed.MaxPayload]byte
	payload, verdict := c.Keyring.Open(buf[:0], value)
	switch verdict {
	case signed.Missing:
		return pipeline.PassMissing, token{}
	case signed.Forged:
		return pipeline.PassForged, token{}
	case signed.Valid:
		if t, ok := parsePayload(payload); ok {
			return t.state(now), t
		}
	}
	return pipeline.PassStale, token{}
}

// rank orders states from no cookie to a valid one. A stale pass beside a forged
// one is the benefit of the doubt: the visitor was here before.
func rank(s pipeline.PassState) int {
	switch s {
	case pipeline.PassForged:
		return 1
	case pipeline.PassStale:
		return 2
	case pipeline.PassExpired:
		return 3
	case pipeline.PassValid:
		return 4
	}
	return 0 // missing
}
