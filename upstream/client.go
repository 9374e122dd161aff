package upstream

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"time"

	"golang.org/x/net/http/httpguts"
)

// roundTrip puts the visit to the origin and returns the header of its answer.
func (e *exchange) roundTrip(target, upgrade string) (*http.Response, error) {
	if t := e.p.libraryClient(upgrade); t != nil {
		e.arm()
		out := e.request(target, upgrade)
		e.await(header, e.p.cfg.HeaderTimeout)
		return t.RoundTrip(out)
	}
	if e.r.ContentLength != 0 {
		e.arm() // an upload may take its time
	}
	if err := e.head.write(e, target, upgrade); err != nil {
		return nil, err
	}
	for {
		l, err := e.p.plain.get(e)
		if err != nil {
			return nil, err
		}
		l.begin(e)
		if err = l.ask(e.head.out); err == nil {
			return &e.resp, nil
		}
		l.unguard()
		l.close()
		e.link = nil
		if !l.stale() || context.Cause(e.ctx) != nil {
			return nil, err
		}
	}
}

// libraryClient returns net/http's client for a request, nil when it is one for
// our own.
func (p *Proxy) libraryClient(upgrade string) http.RoundTripper {
	switch {
	case p.http2 != nil && upgrade == "":
		return p.http2
	case p.plain == nil:
		return p.transport
	}
	return nil
}

// stale reports whether the connection was of no use any more, such as one that
// the origin had closed meanwhile, and the request may be put to it again:
// because nothing of it has left, or because carrying it out twice is no
// different from once.
func (l *link) stale() bool {
	r := l.e.r
	switch {
	case !l.reused || l.heard:
		return false
	case !l.sent:
		return true
	case r.ContentLength != 0:
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// ask sends the request and waits for the answer's header.
func (l *link) ask(head []byte) error {
	e := l.e
	e.await(header, e.p.cfg.HeaderTimeout)
	if err := l.send(head); err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	if e.r.ContentLength != 0 {
		e.up = startUpload(l)
	}
	if err := l.answer(); err != nil {
		return fmt.Errorf("read the response: %w", err)
	}
	return nil
}

// answer reads headers until the final one.
func (l *link) answer() (err error) {
	e := l.e
	r := headReader{br: l.br, left: headerBytes}
	h := e.answerHeader()
	defer func() {
		if err != nil && e.direct {
			clear(h) // the refusal's header must not hold pieces of the origin's
		}
	}()
	for {
		clear(h)
		head, err := r.read(h)
		if err != nil {
			return err
		}
		if head.status < 200 && e.direct {
			h = e.indirect(h)
			head.header = h
		}
		switch {
		case head.status == http.StatusContinue:
			e.up.proceed()
		case head.status < 200 && head.status != http.StatusSwitchingProtocols:
			if err := e.inform(head.status, head.header); err != nil {
				return err
			}
		default:
			e.up.decline()
			return l.frame(head)
		}
	}
}

// answerHeader is where the origin's header is read to. The visitor's own, when
// nothing is in it and nobody else writes to it, saves filling a map twice.
func (e *exchange) answerHeader() http.Header {
	if e.r.ContentLength == 0 {
		if own := e.v.W.Header(); len(own) == 0 {
			e.direct = true
			return own
		}
	}
	if e.fields == nil {
		e.fields = make(http.Header, 16)
	}
	return e.fields
}

// indirect moves what was read to the visitor's header, and is not the final
// one, to a map of its own.
func (e *exchange) indirect(h http.Header) http.Header {
	e.direct = false
	moved := maps.Clone(h)
	clear(h)
	return moved
}

// frame makes head the exchange's response, with a body as RFC 9112, section
// 6.3, says.
func (l *link) frame(head responseHead) error {
	e := l.e
	e.resp = http.Response{StatusCode: head.status, Header: head.header, Body: http.NoBody}
	if head.status == http.StatusSwitchingProtocols {
		l.unguard() // for net/http's server, a visitor who has no more to send has left
		l.e, e.link = nil, nil
		_ = l.conn.SetDeadline(time.Time{}) // a tunnel has its own clock
		e.resp.Body = upgraded{l}
		return nil
	}
	framing, length, err := head.framing(e.r.Method)
	if err != nil {
		return err
	}
	l.reusable = head.minor == 1 && framing != untilClose && !httpguts.HeaderValuesContainsToken(head.header["Connection"], "close")
	e.resp.ContentLength = length
	if framing == chunkedFraming {
		e.resp.Trailer = announced(head.header["Trailer"])
	}
	e.answerBody = originBody{e: e, bodyReader: bodyReader{br: l.br, framing: framing, left: max(length, 0)}}
	if framing == noFraming || framing == lengthFraming && length == 0 {
		e.answerBody.ended = true
		e.release()
		return nil
	}
	e.resp.Body = &e.answerBody
	return nil
}

// release gives the connection back as soon as the answer is read and the
// request sent, so that the next visit need not wait until this visitor has
// taken it.
func (e *exchange) release() {
	if l := e.link; l != nil && l.reusable && e.up.over() && l.unguard() {
		e.link = nil
		e.p.plain.put(l)
	}
}

// letGo is the last anybody hears of the connection. After an answer that was
// read to its end it may still be kept, if the request has been sent whole.
func (e *exchange) letGo() {
	l := e.link
	if l == nil {
		return
	}
	e.link = nil
	if l.reusable && e.answerBody.ended && (e.up == nil || e.up.whole()) && l.unguard() {
		e.p.plain.put(l)
		return
	}
	l.close()
}
