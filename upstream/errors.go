package upstream

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/andreimerlescu/concert/pipeline"
)

// Why an exchange was given up. They are the causes its context is cancelled
// with, or the errors its request body ends with.
var (
	errOriginSlow   = errors.New("origin made no progress in time")
	errStopping     = errors.New("streams are being ended")
	errDone         = errors.New("exchange is over")
	errBodySize     = errors.New("request body is too large")
	errBodyOver     = errors.New("request body is no longer wanted")
	errInformation  = errors.New("origin sent an informational status as its last")
	errUnasked      = errors.New("origin switched protocols unasked")
	errUnfit        = errors.New("idle connection was closed or spoken on by the origin")
	errRequestField = errors.New("request field cannot be written")
)

// failure turns an error before or during the response into a refusal. The
// visitor's own trouble comes first: it also breaks the origin's side.
func (e *exchange) failure(err error) error {
	reason := e.reason(err)
	if reason == pipeline.OriginDown || reason == pipeline.OriginTimeout || reason == pipeline.OriginSwitched {
		e.p.failures.warn(e.p.cfg.Log, e.v, reason, err)
	}
	if e.r.ProtoMajor == 1 && (reason == pipeline.BadRequest || reason == pipeline.BodyStalled) {
		// Where the next request begins on this connection, nobody can say.
		e.v.W.Header()["Connection"] = []string{"close"}
	}
	return &pipeline.Refusal{Reason: reason, Err: err}
}

func (e *exchange) reason(err error) pipeline.Reason {
	if bodyErr := e.body.failed(); bodyErr != nil {
		return bodyReason(bodyErr)
	}
	var timeout net.Error
	switch cause := context.Cause(e.ctx); {
	case cause == errOriginSlow:
		return pipeline.OriginTimeout
	case cause == errStopping:
		return pipeline.StreamBusy
	case cause != nil:
		return pipeline.ClientGone
	case errors.Is(err, errOriginSlow):
		return pipeline.OriginTimeout
	case errors.Is(err, errRequestField):
		return pipeline.BadRequest
	case errors.Is(err, errUnasked):
		return pipeline.OriginSwitched
	case errors.As(err, &timeout) && timeout.Timeout():
		return pipeline.OriginTimeout
	}
	return pipeline.OriginDown
}

// bodyReason says what a failed read of the visitor's body means.
func bodyReason(err error) pipeline.Reason {
	var network net.Error
	switch {
	case errors.Is(err, errBodySize):
		return pipeline.BodyTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return pipeline.BodyStalled
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET),
		errors.As(err, &network), errors.Is(err, context.Canceled):
		return pipeline.ClientGone
	}
	return pipeline.BadRequest // chunks that are none
}
