package portal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/jsonbody"
	"github.com/andreimerlescu/concert/persist"
)

// maxBody is the most bytes a request's body may have.
const maxBody = 1 << 20

// request is one request on its way.
type request struct {
	*http.Request
	w       http.ResponseWriter
	p       *Portal
	now     time.Time
	client  netip.Addr // of the connection
	role    role
	session *session // nil without one, as with a token
	query   url.Values
	silent  []string // instances that did not answer
}

// problemf is a Problem with a text for the client.
func problemf(status int, format string, args ...any) error {
	return &Problem{status, fmt.Errorf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return problemf(http.StatusBadRequest, format, args...)
}

// quoted is a stranger's text in a message.
func quoted(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.Quote(s)
}

// by names whoever sent the request.
func (r *request) by() persist.By {
	by := persist.By{Who: "token", Client: r.client.String()}
	if r.session != nil {
		by.Who = r.session.role.String() + " " + r.session.id()[:6]
	}
	return by
}

func (r *request) isAPI() bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// route finds the request's row in the table, and serves it.
func (r *request) route() {
	path := r.URL.Path
	if strings.HasPrefix(path, assetPrefix) {
		path = assetPath
	}
	methods := r.p.routes[path]
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	row := methods[method]
	switch {
	case methods == nil:
		r.text(http.StatusNotFound, "there is nothing at this address\n")
	case row == nil:
		r.w.Header().Set("Allow", allowOf(methods))
		r.refuse(problemf(http.StatusMethodNotAllowed, "method %s is not for this address", quoted(r.Method)))
	default:
		r.serve(row)
	}
}

// serve has a row answer, if it admits the request.
func (r *request) serve(row *route) {
	if r.Body != nil {
		r.Body = http.MaxBytesReader(r.w, r.Body, maxBody)
	}
	if err := r.admit(row); err != nil {
		r.refuse(err)
		return
	}
	if row.page != nil {
		if err := row.page(r); err != nil {
			r.refuse(err)
		}
		return
	}
	if answer, err := row.json(r); err != nil {
		r.refuse(err)
	} else {
		r.json(http.StatusOK, answer)
	}
}

// refuse answers with what is wrong: as JSON below /api/, in words elsewhere.
func (r *request) refuse(err error) {
	status := http.StatusInternalServerError
	if p, ok := errors.AsType[*Problem](err); ok {
		status = p.Status
	} else {
		r.p.Log.Error("the portal could not answer", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	if !r.isAPI() {
		r.text(status, err.Error()+"\n")
		return
	}
	answer := Failure{Error: err.Error(), Problems: settingProblems(err)}
	r.json(status, answer)
}

// Failure is the answer of a request that failed.
type Failure struct {
	Error    string           `json:"error"`
	Problems []SettingProblem `json:"problems,omitempty"` // one for each setting that is no good
}

func (r *request) text(status int, text string) {
	r.send(status, "text/plain; charset=utf-8", []byte(text))
}

func (r *request) html(status int, body []byte) {
	r.send(status, "text/html; charset=utf-8", body)
}

func (r *request) json(status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic("BUG: portal: answer is not JSON: " + err.Error())
	}
	r.send(status, "application/json; charset=utf-8", append(body, '\n'))
}

func (r *request) send(status int, contentType string, body []byte) {
	h := r.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	r.w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = r.w.Write(body) // the client may have left; there is nobody to tell
	}
}

// read decodes the body, which must be one JSON value of known fields.
func (r *request) read(into any) error {
	err := jsonbody.Decode(r.Body, into)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return problemf(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", large.Limit)
	}
	if errors.Is(err, io.EOF) {
		return badRequest("the body is empty: it must be a JSON object")
	}
	if err != nil {
		return badRequest("the body: %w", err)
	}
	return nil
}

// number reads a parameter that is a whole number from 0.
func (r *request) number(name string, ifUnset int) (int, error) {
	text := r.query.Get(name)
	if text == "" {
		return ifUnset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("%s is %s: want a whole number from 0", name, quoted(text))
	}
	return n, nil
}

// flag reads a parameter that is a switch.
func (r *request) flag(name string) (bool, error) {
	text := r.query.Get(name)
	if text == "" {
		return false, nil
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		return false, badRequest("%s is %s: want 1 or 0", name, quoted(text))
	}
	return on, nil
}
