package app

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/pipeline"
)

// hstsField is the field in which a site says to come by https only (RFC 6797).
const hstsField = "Strict-Transport-Security"

// hsts is what to say in it; nil for nothing. The lines are shared by all
// responses, so that saying it allocates nothing.
type hsts struct{ lines atomic.Pointer[[]string] }

// set has it said as the configuration wants.
func (h *hsts) set(c *config.Config) {
	if c.HSTS == 0 {
		h.lines.Store(nil)
		return
	}
	line := "max-age=" + strconv.FormatInt(int64(c.HSTS/time.Second), 10)
	if c.HSTSSubdomains {
		line += "; includeSubDomains"
	}
	h.lines.Store(&[]string{line})
}

// saying has it said on every response over TLS. Browsers do not listen to it
// on others.
func (h *hsts) saying(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lines := h.lines.Load(); lines != nil && r.TLS != nil {
			w.Header()[hstsField] = *lines
		}
		next.ServeHTTP(w, r)
	})
}

// EditResponse implements pipeline.ResponseEditor: what the origin says is
// behind our own line then, and browsers read the first alone.
func (h *hsts) EditResponse(v *pipeline.Visit, _ int, header http.Header) {
	if lines := h.lines.Load(); lines != nil && v.R.TLS != nil {
		header[hstsField] = *lines
	}
}

// secured is an origin that does not have its say in the setting's place.
type secured struct {
	pipeline.Origin
	hsts *hsts
}

// Serve implements pipeline.Origin.
func (s secured) Serve(v *pipeline.Visit) error {
	if s.hsts.lines.Load() != nil {
		v.OnResponse(s.hsts)
	}
	return s.Origin.Serve(v)
}
