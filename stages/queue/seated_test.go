package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// Whoever holds a slot already passes by, and gives up a place in line.
func TestSeatedVisitsPass(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	mine := ticketOf(r.do("GET", "/", html))
	live := func() int { return r.line.Stats(time.Now()).Live }
	if w := r.do("POST", "/form", html, cookie(mine), header("Test-Seated", "1")); w.Code != 200 || live() != 1 {
		t.Errorf("a form: status %d, %d in line", w.Code, live())
	}
	if w := r.do("GET", "/", html, header("Test-Seated", "1")); w.Code != 200 || live() != 1 {
		t.Errorf("somebody else: status %d, %d in line", w.Code, live())
	}
	if w := r.do("GET", "/", html, cookie(mine), header("Test-Seated", "1")); w.Code != 200 || live() != 0 {
		t.Errorf("a page: status %d, %d in line", w.Code, live())
	}
	if n := r.line.Stats(time.Now()).InFlight; n != 1 {
		t.Errorf("%d slots out, want the one that was filled", n)
	}
}

func TestRankAndRightToTheFrontReachTheLine(t *testing.T) {
	s := oneSlot()
	s.RankLead = 10
	r := newRig(t, newLine(s), nil)
	r.fill()
	place := func(options ...option) string {
		t.Helper()
		return r.do("GET", "/", append(options, html)...).Header().Get("Concert-Queue")
	}
	place()
	place()
	if got := place(header("Test-Rank", "member")); got[:10] != "position=1" {
		t.Errorf("a member is told %q", got)
	}
	if got := place(header("Test-Vip", "1")); got[:10] != "position=1" {
		t.Errorf("whoever may go to the front is told %q", got)
	}
	all, err := r.line.List(t.Context(), time.Now(), 0, 10)
	if err != nil || len(all) != 4 || all[1].Rank != uint8(pipeline.Member) || !all[0].Place.Promoted {
		t.Errorf("in line: %+v, %v", all, err)
	}
}

func TestHasPlace(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	mine := ticketOf(r.do("GET", "/", html))
	has := func(options ...option) bool {
		return r.stage.HasPlace(&pipeline.Visit{R: request("GET", "/", nil, options...)})
	}
	if !has(cookie(mine)) || has() || has(cookie(TicketCookie+"=nonsense")) {
		t.Errorf("with a ticket %v, without %v, with nonsense %v", has(cookie(mine)), has(), has(cookie(TicketCookie+"=nonsense")))
	}
	value := strings.TrimPrefix(mine, TicketCookie+"=")
	ticket, ok := ParseTicket(keyring(t, "k"), value)
	if !ok {
		t.Fatalf("the ticket %q is not authentic", mine)
	}
	if err := r.line.Remove(t.Context(), time.Now(), line.Ticket{Number: ticket.Number}); err != nil {
		t.Fatal(err)
	}
	if has(cookie(mine)) {
		t.Error("a ticket that is no longer in line is a place")
	}
	if _, ok := ParseTicket(keyring(t, "other"), value); ok {
		t.Error("a ticket of another key is authentic")
	}
}
