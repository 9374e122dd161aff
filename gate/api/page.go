package api

import (
	"fmt"
	"html"
	"net/http"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// page serves the waiting page of a room: /?room=ID&return=…
func (p *Public) page(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	room, err := p.Store.Room(r.Context(), p.Now(), query.Get("room"))
	if err == nil && room.TargetURL == "" {
		err = gate.ErrNoRoom // there is nowhere to go from its page
	}
	if err != nil {
		return p.noPage(w, err)
	}
	target, err := room.Target()
	if err != nil {
		return err
	}
	values := page.Values{Room: room.ID, RoomName: room.Name}
	if back := onOrigin(target, query.Get("return")); back != nil {
		values.Back = query.Get("return")
	}
	l, picked := language.Parse(query.Get("lang"))
	if !picked {
		l = language.Negotiate(r.Header["Accept-Language"])
	}
	writePage(w, r, p.pages.In(l), values)
	return nil
}

// writePage answers with a page, compressed where that is accepted.
func writePage(w http.ResponseWriter, r *http.Request, d *page.Page, values page.Values) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", d.Policy())
	h.Set("Content-Language", d.Language())
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Language, Accept-Encoding")
	var body []byte
	if pipeline.AcceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = d.AppendGzip(nil, values)
	} else {
		body = d.Append(nil, values)
	}
	_, _ = w.Write(body) // the client may have left; there is nobody to tell
}

// noPage tells a person that the link leads nowhere.
func (p *Public) noPage(w http.ResponseWriter, err error) error {
	f := faultOf(err, p.Log)
	text := pipeline.NotFound.DefaultText()
	if f.status != http.StatusNotFound {
		text = pipeline.Internal.DefaultText()
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.WriteHeader(f.status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>%[1]s</title></head><body><main><h1>%[1]s</h1><p>%[2]s</p></main></body></html>\n",
		html.EscapeString(text.Title), html.EscapeString(text.Body))
	return nil
}

// messages tells what operators have to say, in the language asked for.
func (p *Public) messages(w http.ResponseWriter, r *http.Request) error {
	if !p.limited(w, r, p.requests) {
		return nil
	}
	all, err := p.Store.Messages(r.Context(), r.URL.Query().Get("room"))
	if err != nil {
		return err
	}
	type message struct {
		ID    string     `json:"id"`
		Text  string     `json:"text"`
		Level gate.Level `json:"level"`
	}
	l, _ := language.Parse(r.URL.Query().Get("lang")) // English, should there be none
	enabled := []message{}
	for _, m := range all {
		if n, err := notice.Parse(m.Text); m.Enabled && err == nil {
			enabled = append(enabled, message{m.ID, n[l], m.Level})
		}
	}
	w.Header().Set("Cache-Control", "public, max-age=10")
	writeJSON(w, http.StatusOK, map[string]any{"messages": enabled})
	return nil
}
