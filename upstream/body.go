package upstream

import (
	"io"
	"net/http"
	"os"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// minProgress is how many bytes of body a visitor must send within each
// BodyTimeout of being waited for. One byte now and then is not progress: it
// would hold a slot for ever.
const minProgress = 1 << 10

// requestBody is a visitor's body on its way to the origin. The round tripper
// reads it, perhaps on a goroutine that outlives Serve. It never closes the
// server's body, which the pipeline still drains.
type requestBody struct {
	e       *exchange
	src     io.Reader
	trailer http.Header // announced, and given values at the end
	left    int64       // bytes until the body is too large; < 0 means no limit
	// Progress in the present window: bytes read, and time spent waiting.
	got    int
	waited time.Duration

	// The fields below are guarded by e.mu.
	expects  bool      // the visitor waits for a 100 that we have to write
	closed   bool      // the round tripper is done with it
	reading  bool      // src is being read
	deadline time.Time // for that read
	err      error     // what the visitor's side failed with
}

// open makes b the body of e's request.
func (b *requestBody) open(e *exchange) {
	b.e, b.src, b.left = e, e.r.Body, -1
	if limit := e.p.cfg.MaxBody; limit > 0 {
		b.left = limit
	}
	// net/http answers a first read with 100 Continue by itself. On HTTP/1 it
	// would do so without the lock that keeps it apart from other answers.
	b.expects = e.r.ProtoMajor == 1 && e.r.ProtoAtLeast(1, 1) && hasToken(e.r.Header["Expect"], "100-continue")
	b.trailer = e.p.requestTrailers(e.r.Trailer)
}

// requestTrailers returns the announced trailers the origin may have, without
// values yet. Some origins read trailers as headers, so the rules are the same.
func (p *Proxy) requestTrailers(announced http.Header) http.Header {
	if len(announced) == 0 {
		return nil
	}
	t := make(http.Header, len(announced))
	for name := range announced {
		if !hopByHop(name) && !private(name) && name != "Cookie" && name != "Host" && !clientip.Strips(name, false) && !p.poses(name, false) {
			t[name] = nil
		}
	}
	return t
}

// Read reads from the visitor, within the limits.
func (b *requestBody) Read(p []byte) (int, error) {
	if err := b.enter(); err != nil {
		return 0, err
	}
	began := time.Now()
	n, err := b.src.Read(p)
	b.progress(n, time.Since(began))
	if b.left >= 0 {
		if b.left -= int64(n); b.left < 0 {
			n, err = 0, errBodySize
		}
	}
	b.leave(err)
	return n, err
}

func (b *requestBody) enter() error {
	e := b.e
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case b.err != nil:
		return b.err
	case b.closed, e.over, b.expects && e.answered:
		return errBodyOver
	}
	if b.expects {
		b.expects = false
		e.informLocked(http.StatusContinue, nil)
	}
	b.reading = true
	e.uploadBeginsLocked()
	if limit := e.p.cfg.BodyTimeout; limit > 0 {
		b.deadline = time.Now().Add(limit - b.waited)
		_ = e.rc.SetReadDeadline(b.deadline) // a writer without deadlines is no connection
	}
	return nil
}

// progress opens a new window when enough has come.
func (b *requestBody) progress(n int, waited time.Duration) {
	b.got += n
	b.waited += waited
	if b.got >= minProgress {
		b.got, b.waited = 0, 0
	}
}

func (b *requestBody) leave(err error) {
	e := b.e
	e.mu.Lock()
	defer e.mu.Unlock()
	b.reading = false
	e.uploadEndsLocked()
	switch {
	case err == io.EOF:
		for name := range b.trailer {
			b.trailer[name] = e.r.Trailer[name]
		}
		// The server now watches the connection for the visitor's leaving. A
		// deadline left behind would look like that.
		if !e.over && e.p.cfg.BodyTimeout > 0 {
			_ = e.rc.SetReadDeadline(time.Time{})
		}
	case err != nil:
		b.err = err
	}
}

// Close only ends the reading.
func (b *requestBody) Close() error {
	if b.e != nil {
		b.e.mu.Lock()
		defer b.e.mu.Unlock()
	}
	b.closed = true
	return nil
}

// failed returns what the visitor's side failed with; nil when it did not. A
// read that has run into its deadline may not have returned yet, although the
// server has already cancelled the request for it.
func (b *requestBody) failed() error {
	if b.e == nil {
		return nil
	}
	b.e.mu.Lock()
	defer b.e.mu.Unlock()
	if b.err == nil && b.reading && !b.deadline.IsZero() && !time.Now().Before(b.deadline) {
		return os.ErrDeadlineExceeded
	}
	return b.err
}
