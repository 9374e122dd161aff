package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/abuse"
)

// Bounds of a ban's length, as accepted from operators.
const (
	minDuration = time.Second
	MaxDuration = 365 * 24 * time.Hour
)

// MaxNote is the longest note, in bytes.
const MaxNote = 500

// maxBody is the most of a body that is read, in bytes.
const maxBody = 16 << 10

// Handler serves the registry to operators. It is safe for concurrent use.
type Handler struct {
	Registry *abuse.Registry
	// By names the operator who sent a request; nil names nobody.
	By func(*http.Request) string
	// Save, when set, is called before an order that was carried out is
	// answered. Its error is answered with 500 and should say what holds.
	Save func() error
}

var _ http.Handler = (*Handler)(nil)

// Methods are what the handler answers; GET implies HEAD.
func Methods() []string { return []string{http.MethodGet, http.MethodPost, http.MethodDelete} }

// problem is an error with the status it is answered with.
type problem struct {
	status int
	err    error
	client string // whom it is about, when that is not said in err
}

func bad(err error) *problem { return &problem{status: http.StatusBadRequest, err: err} }

// ServeHTTP lists, makes or lifts bans by the request's method.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, p := h.answer(w, r)
	if p == nil && h.Save != nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		if err := h.Save(); err != nil {
			p = &problem{status: http.StatusInternalServerError, err: err}
		}
	}
	if p == nil {
		write(w, r, http.StatusOK, answer)
		return
	}
	said := map[string]string{"error": p.err.Error()}
	if p.client != "" {
		said["client"] = p.client
	}
	write(w, r, p.status, said)
}

func (h *Handler) answer(w http.ResponseWriter, r *http.Request) (any, *problem) {
	if !h.Registry.Enabled() {
		return nil, &problem{status: http.StatusNotFound, err: errors.New("abuse registry disabled")}
	}
	now := time.Now()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return h.list(r, now)
	case http.MethodPost:
		return h.ban(r, now)
	case http.MethodDelete:
		return h.lift(r, now)
	}
	w.Header().Set("Allow", strings.Join(Methods(), ", "))
	return nil, &problem{status: http.StatusMethodNotAllowed, err: errors.New("method not allowed")}
}

func (h *Handler) by(r *http.Request) string {
	if h.By == nil {
		return ""
	}
	return h.By(r)
}

// ban carries out the order in the request's body.
func (h *Handler) ban(r *http.Request, now time.Time) (any, *problem) {
	o, err := readOrder(r.Body)
	if err != nil {
		return nil, bad(err)
	}
	o.By = h.by(r)
	b, err := h.Registry.Ban(o, now)
	switch {
	case errors.Is(err, abuse.ErrExempt), errors.Is(err, abuse.ErrTooMany):
		return nil, &problem{status: http.StatusConflict, err: err, client: clientText(o.Client)}
	case err != nil:
		return nil, bad(err)
	}
	return struct {
		Ban
		ExemptWithin []string `json:"exempt_within"`
	}{Shown(b, now), texts(h.Registry.ExemptWithin(b.Client))}, nil
}

// readOrder reads one order and nothing else.
func readOrder(body io.Reader) (abuse.Order, error) {
	var in struct {
		Client    string `json:"client"`
		Duration  string `json:"duration"`
		Permanent bool   `json:"permanent"`
		Note      string `json:"note"`
	}
	if err := decode(body, &in); err != nil {
		return abuse.Order{}, fmt.Errorf(`body must be {"client": …, "duration": …} or {"client": …, "permanent": true}: %w`, err)
	}
	client, err := abuse.ParseClient(in.Client)
	if err != nil {
		return abuse.Order{}, fmt.Errorf("client %w", err)
	}
	o := abuse.Order{Client: client, Permanent: in.Permanent, Note: in.Note}
	switch {
	case len(in.Note) > MaxNote:
		return o, fmt.Errorf("note is longer than %d bytes", MaxNote)
	case in.Permanent && in.Duration != "":
		return o, errors.New("a permanent ban has no duration: leave one of them out")
	case in.Permanent:
		return o, nil
	}
	o.For, err = time.ParseDuration(in.Duration)
	if err != nil || o.For < minDuration || o.For > MaxDuration {
		return o, fmt.Errorf("duration %q: want one such as 30m or 24h, from %v to %gh", in.Duration, minDuration, MaxDuration.Hours())
	}
	return o, nil
}

func decode(body io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the body: %w", err)
	case len(text) > maxBody:
		return fmt.Errorf("it is longer than %d bytes", maxBody)
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows")
	}
	return nil
}

// lift forgets the client that the query names.
func (h *Handler) lift(r *http.Request, now time.Time) (any, *problem) {
	client, err := abuse.ParseClient(r.URL.Query().Get("client"))
	if err != nil {
		return nil, bad(fmt.Errorf("client %w", err))
	}
	known, err := h.Registry.Lift(client, h.by(r), now)
	switch {
	case err != nil:
		return nil, bad(err)
	case !known:
		return nil, &problem{status: http.StatusNotFound, err: errors.New("client not tracked"), client: clientText(client)}
	}
	return map[string]string{"unbanned": clientText(client)}, nil
}

func texts(prefixes []netip.Prefix) []string {
	out := make([]string, len(prefixes))
	for i, p := range prefixes {
		out[i] = p.String()
	}
	return out
}

func write(w http.ResponseWriter, r *http.Request, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic("BUG: abuse/api: answer is not JSON: " + err.Error())
	}
	body = append(body, '\n')
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may have left; there is nobody to tell
	}
}
