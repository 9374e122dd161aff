package portal

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/linetest"
	"github.com/andreimerlescu/concert/pipeline"
)

func visitOf(path, agent string) *pipeline.Visit {
	v := &pipeline.Visit{R: httptest.NewRequest("GET", path, nil)}
	v.R.Header.Set("User-Agent", agent)
	return v
}

func TestNotesAreTakenOnceAndForgotten(t *testing.T) {
	r := newRig(t)
	ids := r.queueUp("192.0.2.1", "192.0.2.2")
	first := mustID(t, ids[0])
	r.Placed(visitOf("/later", "other"), first)
	if n := r.notes.of(first.Number); n.path != "/shop?of=192.0.2.1" || n.agent != "Browser of 192.0.2.1" {
		t.Errorf("note %+v", n)
	}
	if err := r.line.Quit(t.Context(), time.Now(), first); err != nil {
		t.Fatal(err)
	}
	for _, later := range []time.Duration{0, time.Minute, time.Minute} { // all parts are looked over
		r.sweepNotes(t.Context(), time.Now().Add(later))
	}
	if n := r.notes.of(first.Number); n != (note{}) || r.notes.count() != 1 || len(r.notes.order)-r.notes.head > 1 {
		t.Errorf("a visitor who left is still noted: %+v, %d notes, order %v", n, r.notes.count(), r.notes.order)
	}
	if n := r.notes.of(mustID(t, ids[1]).Number); n.agent == "" {
		t.Error("a visitor in line is forgotten")
	}
}

// A place that has run out stays in the lists until the line removes it, and
// says for that long who had it.
func TestNotesStayAsLongAsTheirPlacesAreListed(t *testing.T) {
	r := newRig(t)
	ticket := mustID(t, r.queueUp("192.0.2.1")[0])
	over := time.Now().Add(5*time.Minute + time.Second)
	linetest.Pass(t, r.line, time.Now(), over)
	keep := r.program.Config().Reaper
	if st, err := r.line.Look(t.Context(), over, ticket); err != nil || st.Known {
		t.Fatalf("the place has not run out: %+v, %v", st, err)
	}
	for _, at := range []time.Time{over, over.Add(keep / 2), over.Add(keep)} {
		r.sweepNotes(t.Context(), at)
		if n := r.notes.of(ticket.Number); n.path != "/shop?of=192.0.2.1" {
			t.Errorf("%v after the place ran out its note is %+v", at.Sub(over), n)
		}
	}
	r.sweepNotes(t.Context(), over.Add(keep+time.Second))
	if n := r.notes.count(); n != 0 {
		t.Errorf("%d notes are kept of places that ended long ago", n)
	}
}

func TestNotesAreBounded(t *testing.T) {
	const most = 5000
	r := newRig(t)
	r.notes = newNotes(most)
	long := strings.Repeat("x", 10_000)
	for i := range most + 10 {
		agent := "same"
		if i < 5 || i > most {
			agent = fmt.Sprint(i) + long
		}
		r.Placed(visitOf("/"+long[:20], agent), line.Ticket{Number: uint64(i + 1)})
	}
	if n := r.notes.count(); n != most || r.notes.dropped.Load() != 10 || len(r.notes.order) > 2*most+2048 {
		t.Errorf("%d notes, %d dropped, order of %d", n, r.notes.dropped.Load(), len(r.notes.order))
	}
	last := r.notes.of(most + 10)
	r.Placed(visitOf("/"+long, long), line.Ticket{Number: 1 << 40})
	cutOff := r.notes.of(1 << 40)
	if len(last.agent) != maxAgent || len(cutOff.path) != maxPath || len(cutOff.agent) != maxAgent {
		t.Errorf("lengths %d, %d, %d", len(last.agent), len(cutOff.path), len(cutOff.agent))
	}
	for range notesParts + 5 { // nobody of them is in line
		r.sweepNotes(context.Background(), time.Now())
	}
	if n := r.notes.count(); n != 0 {
		t.Errorf("%d notes are left", n)
	}
}

func TestKickedAreForgotten(t *testing.T) {
	var k kicked
	now := time.Now()
	k.add(1, now.Add(time.Minute))
	k.add(2, now.Add(time.Hour))
	for i, want := range map[uint64]bool{1: true, 2: true, 3: false} {
		if k.has(i, now) != want {
			t.Errorf("%d: %v", i, !want)
		}
	}
	if k.has(1, now.Add(time.Minute)) {
		t.Error("remembered for too long")
	}
	k.sweep(now.Add(time.Minute))
	if k.n.Load() != 1 {
		t.Errorf("%d are remembered", k.n.Load())
	}
	for i := range uint64(maxKicked) + 5 {
		k.makeRoomOrAdd(i+10, now.Add(time.Hour))
	}
	if k.n.Load() > maxKicked {
		t.Errorf("%d are remembered", k.n.Load())
	}
}

// makeRoomOrAdd is add without the search for the first to end: all end together.
func (k *kicked) makeRoomOrAdd(number uint64, until time.Time) {
	if len(k.until) >= maxKicked {
		for one := range k.until {
			delete(k.until, one)
			break
		}
	}
	k.add(number, until)
}
