// Package pipelinetest has what tests of a stage, an origin or an observer put
// around it.
package pipelinetest

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/pipeline"
)

// New builds a pipeline. Unless c says otherwise every peer is a client, refusals
// are worded as by default, and nothing is logged.
func New(tb testing.TB, c pipeline.Config, stages ...pipeline.Stage) *pipeline.Pipeline {
	tb.Helper()
	if c.Resolver == nil {
		c.Resolver = clientip.NewResolver(nil)
	}
	if c.Renderer == nil {
		c.Renderer = pipeline.NewRenderer(nil)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	p, err := pipeline.New(c, stages...)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// Nowhere is a response that nobody reads: it costs nothing, and can be written
// again and again.
type Nowhere http.Header

// Header implements http.ResponseWriter.
func (n Nowhere) Header() http.Header { return http.Header(n) }

// Write implements http.ResponseWriter.
func (n Nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader implements http.ResponseWriter.
func (n Nowhere) WriteHeader(int) {}

// Flush implements http.Flusher.
func (n Nowhere) Flush() {}
