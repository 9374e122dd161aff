package app

import (
	"net/url"
	"strings"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/pass"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/queue"
	"github.com/andreimerlescu/concert/stages/skip"
)

// The stages below stand where those of the default room would, and have visits
// of inline rooms judged by the stages of these.
var (
	_ pipeline.Stage = passes{}
	_ pipeline.Stage = priorities{}
	_ pipeline.Stage = sales{}
	_ pipeline.Stage = queues{}
)

// noRoom is for whoever names a room that there never was.
var noRoom = &pipeline.Refusal{Reason: pipeline.NoRoom}

// passes has each room take its own passes.
type passes struct {
	*pass.Stage
	rooms *inlineRooms
}

// Enter implements pipeline.Stage. An asset or stream that is in no room is
// shared by the site: a pass of any room on the same host opens it.
func (s passes) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	t := s.rooms.table.Load()
	if t == nil {
		return s.Stage.Enter(v)
	}
	if r := t.rooms[v.Room]; r != nil {
		return r.pass.Enter(v)
	}
	if v.Class != pipeline.Page && !s.Stage.Opens(v) {
		for i := range t.set.All() {
			spec := &t.set.All()[i]
			if r := t.rooms[spec.ID]; r != nil && spec.OnHost(v.R.Host) && r.pass.Opens(v) {
				return r.pass.Enter(v)
			}
		}
	}
	return s.Stage.Enter(v)
}

// priorities has each room keep its own ranks and lane.
type priorities struct {
	*priority.Stage
	rooms *inlineRooms
}

// Enter implements pipeline.Stage.
func (s priorities) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if r := s.rooms.get(v.Room); r != nil {
		return r.priority.Enter(v)
	}
	return s.Stage.Enter(v)
}

// sales lets visits of rooms pass: places are sold in the default room only.
type sales struct {
	*skip.Stage
	rooms *inlineRooms
}

// Enter implements pipeline.Stage.
func (s sales) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Class == pipeline.Page && s.rooms.get(v.Room) != nil {
		return pipeline.Next, nil
	}
	return s.Stage.Enter(v)
}

// queues has each room keep its own line.
type queues struct {
	*queue.Stage
	rooms *inlineRooms
}

// Enter implements pipeline.Stage.
func (s queues) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Class == pipeline.Operations {
		return s.enterPoll(v)
	}
	if r := s.rooms.get(v.Room); r != nil {
		return r.queue.Enter(v)
	}
	return s.Stage.Enter(v)
}

// enterPoll has the line asked that a waiting page belongs to.
func (s queues) enterPoll(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Path.Kind != paths.Plain || v.Path.Clean != queue.StatusPath && v.Path.Clean != queue.LeavePath {
		return s.Stage.Enter(v)
	}
	id, named := roomField(v.R.URL.RawQuery)
	if named && id != "" {
		if r := s.rooms.get(id); r != nil {
			return r.queue.Enter(v)
		}
		if s.rooms.find(id) == nil && !holds(v, signed.InRoom(queue.TicketCookie, id)) {
			return pipeline.Answered, noRoom
		}
		return s.Stage.EnterGone(v) // there was one, perhaps before a restart
	}
	if !named {
		r := s.rooms.get(v.Room) // all of the host is the room's
		if r == nil {
			r = s.rooms.guess(v)
		}
		if r != nil {
			return r.queue.Enter(v)
		}
	}
	return s.Stage.Enter(v)
}

// roomField finds a query's room.
func roomField(query string) (id string, named bool) {
	for query != "" {
		var field string
		field, query, _ = strings.Cut(query, "&")
		if id, named = strings.CutPrefix(field, "room="); named {
			return id, true
		}
	}
	return "", false
}

// guess tells which room's page a poll comes from that does not say so, as those
// of pages that an operator wrote: by the page's own address, or else by what
// the visitor holds. Nil is the default room.
func (i *inlineRooms) guess(v *pipeline.Visit) *inlineRoom {
	t := i.table.Load()
	if t == nil {
		return nil
	}
	if from := v.R.Header["Referer"]; len(from) == 1 {
		if u, err := url.Parse(from[0]); err == nil && strings.EqualFold(u.Host, v.R.Host) && u.Path != "" {
			return t.rooms[t.set.Find(u.Host, paths.Canonical(u.EscapedPath()))]
		}
	}
	if holds(v, queue.TicketCookie) {
		return nil
	}
	for _, spec := range t.set.All() {
		if holds(v, signed.InRoom(queue.TicketCookie, spec.ID)) {
			return t.rooms[spec.ID]
		}
	}
	return nil
}

// holds reports whether a request brings a cookie.
func holds(v *pipeline.Visit, name string) bool {
	for range cookies.Each(v.R.Header, name) {
		return true
	}
	return false
}
