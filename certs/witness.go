package certs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxAnswer is how much of an authority's answer is looked at, in bytes.
const maxAnswer = 64 << 10

// errRetired ends the requests of an authority that is no longer in use: its
// timers cannot be stopped.
var errRetired = errors.New("certs: this authority is no longer in use")

// trouble is what an authority last found wrong.
type trouble struct {
	Text string
	At   time.Time // zero when there was none
}

// witness passes requests to an authority on and remembers what it complains
// of: autocert renews in the background and tells nobody why it could not.
type witness struct {
	next    http.RoundTripper
	retired atomic.Bool
	said    func(text string) // called with every new complaint

	mu   sync.Mutex // guards the field below
	last trouble
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.retired.Load() {
		return nil, errRetired
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		w.note(fmt.Sprintf("ask %s: %v", r.URL.Host, err))
		return nil, err
	}
	if !strings.Contains(resp.Header.Get("Content-Type"), "json") {
		return resp, nil
	}
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	resp.Body = &replayed{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	w.note(complaint(head))
	return resp, nil
}

// replayed is a body of which the head was read already.
type replayed struct {
	io.Reader
	io.Closer
}

// errorType begins the type of every problem of the protocol.
const errorType = "urn:ietf:params:acme:error:"

// problem is an error document (RFC 7807, RFC 8555 section 6.7).
type problem struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

func (p problem) text() string {
	kind, ok := strings.CutPrefix(p.Type, errorType)
	switch kind {
	case "badNonce", "accountDoesNotExist": // both are answered within the protocol
		ok = false
	}
	if !ok {
		return ""
	}
	return kind + ": " + p.Detail
}

// complaint is what an answer says went wrong; "" for nothing. It is a problem,
// or an order, an authorization or a challenge that holds one.
func complaint(answer []byte) string {
	var doc struct {
		problem
		Error      problem `json:"error"`
		Challenges []struct {
			Type  string  `json:"type"`
			Error problem `json:"error"`
		} `json:"challenges"`
	}
	if json.Unmarshal(answer, &doc) != nil {
		return ""
	}
	for _, c := range doc.Challenges {
		if text := c.Error.text(); text != "" {
			return c.Type + ": " + text
		}
	}
	return cmp.Or(doc.problem.text(), doc.Error.text())
}

// note remembers a complaint.
func (w *witness) note(text string) {
	if text == "" {
		return
	}
	w.mu.Lock()
	fresh := w.last.Text != text
	w.last = trouble{text, time.Now()}
	w.mu.Unlock()
	if fresh {
		w.said(text)
	}
}

// trouble is the last complaint.
func (w *witness) trouble() trouble {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// content forgets the last complaint: what was wanted was had after all.
func (w *witness) content() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = trouble{}
}
