package app

import (
	"net/http"

	"github.com/andreimerlescu/concert/abuse/api"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/operations"
)

// routes is the table of Concert's own paths under /_room.
func (a *App) routes(scrape http.Handler) []operations.Route {
	get, post := []string{http.MethodGet}, []string{http.MethodPost}
	rows := []operations.Route{
		{Path: paths.RoomHealth, Methods: get, Serve: func(v *pipeline.Visit) { operations.WriteText(v, http.StatusOK, "ok") }},
		{Path: paths.RoomReady, Methods: get, Serve: a.serveReady},
		{Path: paths.RoomStats, Methods: get, Serve: func(v *pipeline.Visit) { operations.WriteJSON(v, http.StatusOK, a.Stats()) }},
		{Path: paths.RoomMetrics, Methods: get, Serve: func(v *pipeline.Visit) { scrape.ServeHTTP(v.W, v.R) }},
		{Path: "/_room/abuse", Methods: api.Methods(), Admin: true, Serve: a.act(a.serveAbuse)},
		{Path: "/_room/history", Methods: get, Admin: true, Serve: a.serveHistory},
		{Path: "/_room/cap", Methods: post, Admin: true, Serve: a.act(a.serveCap)},
		{Path: "/_room/settings", Methods: []string{http.MethodGet, http.MethodPatch}, Admin: true, Serve: a.act(a.serveSettings)},
		{Path: "/_room/settings/undo", Methods: post, Admin: true, Serve: a.act(a.serveUndo)},
		{Path: "/_room/promote", Methods: post, Admin: true, Serve: a.act(func(v *pipeline.Visit) { a.stages.skip.ServePromote(v) })},
		{Path: "/_room/quote", Methods: get, Serve: func(v *pipeline.Visit) { a.stages.skip.ServeQuote(v) }},
	}
	return append(rows, debugRoutes()...)
}

// serveReady tells a load balancer whether to send visitors here.
func (a *App) serveReady(v *pipeline.Visit) {
	if a.draining.Load() {
		operations.WriteText(v, http.StatusServiceUnavailable, "draining")
		return
	}
	operations.WriteText(v, http.StatusOK, "ready")
}
