package app

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// accessLog writes one line for each finished visit, except for what would
// drown the rest: assets, what pages and monitors poll, and whatever banned
// clients ask for.
type accessLog struct {
	log   *slog.Logger
	query bool // write query strings
}

var _ pipeline.Observer = accessLog{}

// target is what is written of a request-target.
func (a accessLog) target(uri string) string {
	if path, _, ok := strings.Cut(uri, "?"); ok && !a.query {
		return path + "?…"
	}
	return uri
}

// Observe implements pipeline.Observer.
func (a accessLog) Observe(v *pipeline.Visit) {
	switch v.Class {
	case pipeline.Asset, pipeline.PublicAsset:
		return
	case pipeline.Operations, pipeline.Unclassified: // a banned client's poll is never classified
		if paths.Polled(v.Path.Clean) || v.Reason == pipeline.Banned || v.Reason == pipeline.Blocked {
			return
		}
	}
	attrs := [...]slog.Attr{
		slog.String("client", v.Client.Addr.String()),
		slog.String("method", v.R.Method),
		slog.String("target", a.target(v.R.RequestURI)),
		slog.Int("status", v.Status()),
		slog.Int64("bytes", v.Bytes()),
		slog.Duration("took", v.End().Sub(v.Start).Round(time.Microsecond)),
		slog.String("class", v.Class.String()),
		slog.String("agent", v.R.UserAgent()),
		slog.Duration("waited", v.Waited.Round(time.Millisecond)),
		slog.String("refused", v.Reason.Code()),
	}
	n := len(attrs)
	if v.Reason == pipeline.NotRefused {
		n--
	}
	if v.Room != "" {
		a.log.LogAttrs(context.Background(), slog.LevelInfo, "request", append(attrs[:n:n], slog.String("room", v.Room))...)
		return
	}
	a.log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs[:n]...)
}
