package portal

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/fold"
	"github.com/andreimerlescu/concert/line"
)

const (
	// searchPlaces is how many places of the line a filter looks at.
	searchPlaces = 200_000
	// searchAtOnce is how many of them under one lock of the line: polls of
	// visitors go on in between.
	searchAtOnce = 256
	// searchAtOnceFar is the same of a line that is somewhere else: each part is
	// a way there and back.
	searchAtOnceFar = 2048
)

// nearLine is a line that lists into room that is there already.
type nearLine interface {
	AppendList(ctx context.Context, now time.Time, dst []line.Occupant, first, count int) ([]line.Occupant, error)
}

// place is a visitor in line with what is noted of them.
type place struct {
	*line.Occupant
	note
}

// searched says how far a search went.
type searched struct {
	places int // looked at
	all    bool
}

// search visits the line from its front, until visit returns false or enough
// was looked at. The line moves meanwhile: who is let in or joins may be missed.
func (p *Portal) search(ctx context.Context, now time.Time, visit func(*place) bool) (s searched, err error) {
	part := searchAtOnceFar
	near, isNear := p.Line.(nearLine)
	if isNear {
		part = searchAtOnce
	}
	noted, list := make([]note, part), []line.Occupant(nil)
	for s.places < searchPlaces {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		if isNear {
			list, err = near.AppendList(ctx, now, list[:0], s.places, part)
		} else {
			list, err = p.Line.List(ctx, now, s.places, part)
		}
		if err != nil {
			return s, lineError(err)
		}
		p.notes.all(list, noted)
		for i := range list {
			if !visit(&place{&list[i], noted[i]}) {
				return s, nil
			}
		}
		if s.places += len(list); len(list) < part {
			s.all = true
			return s, nil
		}
	}
	return s, nil
}

// all fills in the notes of a list.
func (n *notes) all(list []line.Occupant, into []note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range list {
		into[i] = n.byNo[list[i].Place.Ticket.Number]
	}
}

// filter finds visitors by a text in small letters in their address, path, user
// agent or id.
type filter struct {
	text    string
	needle  []byte          // text
	address bool            // it may be a part of an address or network
	agents  map[string]bool // user agents, of which many have the same, and whether they match
	buf     []byte
}

func newFilter(text string) *filter {
	return &filter{
		text: text, needle: []byte(text), agents: make(map[string]bool), buf: make([]byte, 0, 64),
		address: strings.Trim(text, "0123456789abcdef.:/") == "",
	}
}

// matches allocates nothing for a visitor whose user agent it has seen.
func (f *filter) matches(o *place) bool {
	if f.address {
		f.buf = clientip.AppendKey(f.buf[:0], o.Client)
		if bytes.Contains(f.buf, f.needle) {
			return true
		}
	}
	if fold.Contains(o.path, f.text) {
		return true
	}
	match, seen := f.agents[o.agent]
	if !seen {
		match = fold.Contains(o.agent, f.text)
		f.agents[o.agent] = match
	}
	return match || len(f.text) == idLength && idOf(o.Place.Ticket.Number) == f.text
}
