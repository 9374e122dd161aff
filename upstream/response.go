package upstream

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// relay passes the origin's response on.
func (e *exchange) relay(resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }() // read to its end, or of no use any more
	if resp.StatusCode < 200 {
		return e.failure(errInformation)
	}
	dropHops(resp.Header)
	h := e.v.W.Header()
	if !e.direct {
		addAll(h, resp.Header)
	}
	e.p.dropOwn(resp.Trailer)
	announced := announceTrailers(h, resp.Trailer)
	if len(announced) > 0 && e.r.ProtoMajor == 1 {
		delete(h, "Content-Length") // HTTP/2 can have both; here only chunks are followed by trailers
	}
	e.v.EditResponse(resp.StatusCode, h)
	e.p.dropOwn(h)
	e.exact(h, resp.StatusCode)
	whole := resp.ContentLength >= 0 || resp.Body == http.NoBody
	if err := e.sendHeader(resp.StatusCode, !whole); err != nil {
		return e.clientGone(err)
	}
	if err := e.copyBody(resp.Body, whole); err != nil {
		if context.Cause(e.ctx) != errStopping || !isEventStream(h) {
			return err
		}
		// At a stop an event stream may end between two events like any other
		// time; its client comes back by itself.
	}
	e.p.dropOwn(resp.Trailer) // more than was announced may have come
	setTrailers(h, resp.Trailer, announced)
	return e.settle()
}

// sendHeader writes the final header, and has it leave at once when nobody
// knows how long the body will be, or when it will come.
func (e *exchange) sendHeader(status int, flush bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if flush {
		e.patienceLocked()
	}
	e.v.W.WriteHeader(status)
	if flush {
		return e.rc.Flush()
	}
	return nil
}

// copyBody copies the origin's body. Of one of unknown length each piece is
// flushed as it comes; of others only what would otherwise wait with us.
func (e *exchange) copyBody(body io.Reader, whole bool) error {
	if body == http.NoBody {
		return nil
	}
	buf := e.p.buffers.Get().(*buffer)
	defer e.p.buffers.Put(buf)
	next := piece
	for {
		if e.link != nil {
			e.link.phase = next // for when it has to wait at all
		} else {
			e.await(next, e.limit)
		}
		n, err := body.Read(buf[:])
		if werr := e.write(buf[:n], !whole); werr != nil {
			return e.clientGone(werr)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			e.deliver() // what did come, so that the visitor sees a part and not nothing
			return e.failure(fmt.Errorf("read the origin's body: %w", err))
		}
		if whole {
			next = unflushed
		}
	}
}

// write passes a piece on, and stops the clock on the origin.
func (e *exchange) write(b []byte, flush bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.pause()
	if len(b) == 0 {
		return nil
	}
	e.patienceLocked()
	if _, err := e.v.W.Write(b); err != nil {
		return err
	}
	e.fresh = len(b) <= smallPiece // else it may have had to wait
	if flush {
		return e.rc.Flush()
	}
	return nil
}

// smallPiece fits in the server's buffers: writing it takes no time.
const smallPiece = 2 << 10

// patienceLocked gives the visitor time to take what is written next.
func (e *exchange) patienceLocked() {
	if limit := e.p.cfg.WriteTimeout; limit > 0 {
		_ = e.rc.SetWriteDeadline(time.Now().Add(limit)) // a writer without deadlines is no connection
	}
}

func (e *exchange) flushLocked() error {
	if !e.fresh {
		e.patienceLocked()
	}
	e.fresh = false
	return e.rc.Flush()
}

// deliver flushes in vain or not: the response is about to be cut.
func (e *exchange) deliver() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.flushLocked() // see above
}

// settle delivers what is still buffered and lifts the write deadline, which on
// HTTP/1 net/http's server does itself, before the connection's next response.
func (e *exchange) settle() error {
	if e.p.cfg.WriteTimeout == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.flushLocked(); err != nil {
		return e.clientGone(err)
	}
	if e.r.ProtoMajor != 1 {
		_ = e.rc.SetWriteDeadline(time.Time{}) // as above
	}
	return nil
}

// clientGone refuses a visit whose client takes nothing any more.
func (e *exchange) clientGone(err error) error {
	return &pipeline.Refusal{Reason: pipeline.ClientGone, Err: fmt.Errorf("write the response: %w", err)}
}

func isEventStream(h http.Header) bool {
	mediaType, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(textproto.TrimString(mediaType), "text/event-stream")
}

// wantsEvents reports whether a request is an EventSource's: what answers it is
// a stream, on whatever path, and ends with a stop or a ban.
func wantsEvents(h http.Header) bool {
	accept := h["Accept"]
	return len(accept) == 1 && strings.HasPrefix(accept[0], "text/event-stream")
}
