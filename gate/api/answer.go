package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/token"
)

// MaxBody is the most bytes a request's body may have.
const MaxBody = 64 << 10

// fault is a refusal: its code is what programs go by.
type fault struct {
	status int
	code   string
	text   string
	retry  time.Duration // Retry-After; 0: none
	detail []string      // "problems"
}

// Error implements error.
func (f *fault) Error() string { return f.text }

func badRequest(format string, args ...any) error {
	return &fault{status: http.StatusBadRequest, code: "bad_request", text: fmt.Sprintf(format, args...)}
}

// faults is the table of the errors that a store or a token can give.
var faults = []struct {
	err error
	fault
}{
	{gate.ErrNoRoom, fault{status: http.StatusNotFound, code: "no_room"}},
	{gate.ErrNoMessage, fault{status: http.StatusNotFound, code: "no_message"}},
	{gate.ErrRoomExists, fault{status: http.StatusConflict, code: "room_exists"}},
	{gate.ErrClosed, fault{status: http.StatusServiceUnavailable, code: "room_closed", retry: 30 * time.Second}},
	{gate.ErrFull, fault{status: http.StatusServiceUnavailable, code: "full", retry: 30 * time.Second}},
	{gate.ErrGone, fault{status: http.StatusGone, code: "ticket_gone"}},
	{gate.ErrUsed, fault{status: http.StatusGone, code: "ticket_used"}},
	{gate.ErrBurnt, fault{status: http.StatusUnauthorized, code: "token_burnt"}},
	{gate.ErrAway, fault{status: http.StatusServiceUnavailable, code: "moving", retry: time.Second}},
	{gate.ErrUnavailable, fault{status: http.StatusServiceUnavailable, code: "unavailable", retry: 5 * time.Second}},
	{gate.ErrNotYet, fault{status: http.StatusConflict, code: "not_admitted", retry: 2 * time.Second}},
	{token.ErrInvalid, fault{status: http.StatusUnauthorized, code: "token_invalid", text: "the token is not valid: it was altered, has expired or is for something else"}},
}

// faultOf finds the row of an error. What is in no row is our own fault, and
// nothing is told of it.
func faultOf(err error, log *slog.Logger) *fault {
	var own *fault
	var invalid *gate.InvalidError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &invalid):
		return &fault{status: http.StatusBadRequest, code: "invalid", text: err.Error(), detail: invalid.Problems}
	}
	for i := range faults {
		if row := &faults[i]; errors.Is(err, row.err) {
			f := row.fault
			if f.text == "" {
				f.text = row.err.Error()
			}
			return &f
		}
	}
	log.Error("a request for a room failed", "error", err)
	return &fault{status: http.StatusInternalServerError, code: "internal", retry: 5 * time.Second,
		text: "something went wrong here; nothing was changed, try again in a moment"}
}

func writeFault(w http.ResponseWriter, err error, log *slog.Logger) {
	f := faultOf(err, log)
	if f.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds(f.retry)))
	}
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="concert"`)
	}
	writeJSON(w, f.status, struct {
		Error    string   `json:"error"`
		Code     string   `json:"code"`
		Problems []string `json:"problems,omitempty"`
	}{f.text, f.code, f.detail})
}

// writeJSON answers with JSON that no cache keeps, unless the handler has said
// otherwise.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic("BUG: gate/api: answer is not JSON: " + err.Error())
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client may have left; there is nobody to tell
}

// readJSON reads a body into value. No body leaves value as it is; strict
// refuses names it does not know, so that a misspelt one is not overlooked.
func readJSON(r *http.Request, value any, strict bool) error {
	body, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return &fault{status: http.StatusRequestEntityTooLarge, code: "too_large", text: fmt.Sprintf("the body has more than %d bytes", MaxBody)}
	case err != nil:
		return badRequest("the body did not arrive")
	case len(body) == 0:
		return nil
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); strict && (err != nil || kind != "application/json") {
		return &fault{status: http.StatusUnsupportedMediaType, code: "not_json", text: "send JSON with Content-Type: application/json"}
	}
	if err := decode(body, value, strict); err != nil {
		return badRequest("the body is not what is wanted: %v", err)
	}
	return nil
}
