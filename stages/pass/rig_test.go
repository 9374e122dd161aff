package pass

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
	"github.com/andreimerlescu/concert/signed"
)

const ttl = time.Minute

var (
	mainSecret  = bytes.Repeat([]byte("m"), signed.MinSecret)
	otherSecret = bytes.Repeat([]byte("o"), signed.MinSecret)
)

func keyring(t testing.TB, secrets ...[]byte) *signed.Keyring {
	t.Helper()
	k, err := signed.NewKeyring(secrets, Purpose)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// bed is the stage in a pipeline before an origin with a header of its own.
type bed struct {
	t       *testing.T
	stage   *Stage
	keys    *signed.Keyring
	p       *pipeline.Pipeline
	header  http.Header // what the origin answers with
	status  int
	down    bool // the origin does not answer
	thinks  time.Duration
	reached int
	strikes int
	seen    pipeline.Pass // what the last visit held in the end
}

func (b *bed) Name() string              { return "before" }
func (b *bed) Classes() pipeline.Classes { return pipeline.AllClasses }

// Enter stands for the stages in front: the path is the class.
func (b *bed) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	for c := pipeline.Page; c <= pipeline.Operations; c++ {
		if v.Path.Clean == "/"+c.String() {
			v.Class = c
		}
	}
	return pipeline.Next, nil
}

// Serve implements pipeline.Origin.
func (b *bed) Serve(v *pipeline.Visit) error {
	b.reached++
	if b.down {
		return &pipeline.Refusal{Reason: pipeline.OriginDown}
	}
	time.Sleep(b.thinks)
	h := v.W.Header()
	for name, lines := range b.header {
		h[name] = append([]string(nil), lines...)
	}
	v.EditResponse(b.status, h)
	v.W.WriteHeader(b.status)
	return nil
}

// Observe implements pipeline.Observer.
func (b *bed) Observe(v *pipeline.Visit) { b.seen = v.Pass }

func newBed(t *testing.T, change ...func(*Config)) *bed {
	t.Helper()
	b := &bed{t: t, status: http.StatusOK, keys: keyring(t, mainSecret)}
	c := Config{Keyring: b.keys, TTL: ttl, CookiePath: "/"}
	for _, f := range change {
		f(&c)
	}
	var err error
	if b.stage, err = New(c); err != nil {
		t.Fatal(err)
	}
	b.p = pipelinetest.New(t, pipeline.Config{
		Origin:    b,
		Observers: []pipeline.Observer{b},
		Strikes:   func(*pipeline.Visit, pipeline.Strike) { b.strikes++ },
	}, b, b.stage)
	return b
}

// get asks for the class with a Cookie header, and more requests' worth of it.
func (b *bed) get(class string, cookies ...string) *http.Response {
	return b.send(httptest.NewRequest("GET", "/"+class, nil), cookies...)
}

func (b *bed) send(r *http.Request, cookies ...string) *http.Response {
	r.Header["Cookie"] = cookies
	w := httptest.NewRecorder()
	b.p.ServeHTTP(w, r)
	return w.Result()
}

// pass is a cookie with a pass of the id that has left of ttl to live.
func (b *bed) pass(id byte, left time.Duration) string {
	tok := newToken([16]byte{id}, time.Now().Add(left-ttl), ttl)
	return cookie(b.keys, tok)
}

func cookie(k *signed.Keyring, tok token) string {
	return CookieName + "=" + string(k.AppendToken(nil, tok.appendPayload(nil)))
}

// issued returns the pass that a response sets, which must be one at most.
func (b *bed) issued(resp *http.Response) (tok token, set bool) {
	b.t.Helper()
	for _, c := range resp.Cookies() {
		if c.Name != CookieName {
			continue
		}
		payload, verdict := b.stage.settings.Load().Keyring.Open(nil, c.Value)
		if set || verdict != signed.Valid {
			b.t.Fatalf("cookies %q: want one valid pass at most", resp.Header["Set-Cookie"])
		}
		tok, set = parsePayload(payload)
	}
	return tok, set
}

// altered is the cookie with its signature changed.
func altered(cookie string) string {
	last := len(cookie) - 3
	return cookie[:last] + string(cookie[last]^1) + cookie[last+1:]
}
