package h3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/andreimerlescu/concert/listener"
)

func TestShutdownFinishesWhatIsUnderWay(t *testing.T) {
	hold, arrived := make(chan struct{}), make(chan struct{}, 1)
	r := newRig(t, listener.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-hold
		_, _ = io.WriteString(w, "whole")
	})
	held := make(chan string, 1)
	v := r.visitor()
	go func() { // ends with hold
		got, err := r.get(v, "/")
		held <- fmt.Sprint(got, err)
	}()
	<-arrived
	ended := make(chan error, 1)
	go func() { ended <- r.server.Shutdown(t.Context()) }() // ends with the request
	r.eventually("it is not announced any more", func() bool { return r.server.AltSvc() == nil })
	close(hold)
	if got := <-held; got != "whole<nil>" {
		t.Errorf("what was under way: %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := <-r.done; err != nil {
		t.Error(err)
	}
	r.done <- nil // for the clean-up
}

// A client that keeps its connection open does not hold a shutdown up.
func TestShutdownDoesNotWaitForTheIdle(t *testing.T) {
	r := newRig(t, listener.Config{}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	c, err := quic.DialAddr(t.Context(), r.addr, func() *tls.Config {
		cfg := r.client.Clone()
		cfg.NextProtos = []string{http3.NextProtoH3}
		return cfg
	}(), &quic.Config{MaxIdleTimeout: patience, KeepAlivePeriod: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	r.eventually("it is known", func() bool { return r.guard.Stats().Open == 1 })
	if err := r.server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	<-c.Context().Done()
	var closed *quic.ApplicationError
	if err := context.Cause(c.Context()); !errors.As(err, &closed) || closed.ErrorCode != quic.ApplicationErrorCode(http3.ErrCodeNoError) {
		t.Errorf("closed with %v, want NO_ERROR", err)
	}
}

func TestShutdownGivesUpWithItsContext(t *testing.T) {
	arrived := make(chan struct{}, 1)
	r := newRig(t, listener.Config{}, func(_ http.ResponseWriter, req *http.Request) {
		arrived <- struct{}{}
		<-req.Context().Done()
	})
	v := r.visitor()
	go func() { _, _ = r.get(v, "/") }() // ends when it is cut off
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.server.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}
