package queue

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func anyTicket() line.Ticket {
	return line.Ticket{Number: 1_700_000_000_000_001, Issued: time.UnixMilli(1_700_000_000_123)}
}

// join gives somebody a place in line.
func join(tb testing.TB, l line.Line) line.Ticket {
	tb.Helper()
	d, err := l.Enter(context.Background(), time.Now(), line.Entry{})
	if err != nil || d.Verdict != line.Waiting {
		tb.Fatalf("join the line: %v %v", d.Verdict, err)
	}
	return d.Place.Ticket
}

func TestTicketRoundTrip(t *testing.T) {
	s := newRig(t, newLine(oneSlot()), nil).stage.live.Load()
	text := string(s.appendTicket(nil, anyTicket()))
	got, ok := s.parseTicket(text)
	if !ok || got != anyTicket() {
		t.Errorf("%q: got %v %v", text, got, ok)
	}
	for i := range text {
		changed := text[:i] + flip(text[i]) + text[i+1:]
		if _, ok := s.parseTicket(changed); ok {
			t.Errorf("accepted with byte %d changed", i)
		}
	}
	zero := string(s.appendTicket(nil, line.Ticket{Issued: time.UnixMilli(5)}))
	if _, ok := s.parseTicket(zero); ok {
		t.Error("a ticket without a number was accepted")
	}
	short := string(s.cfg.Tickets.AppendToken(nil, make([]byte, 8)))
	long := string(s.cfg.Tickets.AppendToken(nil, make([]byte, 24)))
	for _, text := range []string{"", short, long, strings.Repeat("A", 5000)} {
		if _, ok := s.parseTicket(text); ok {
			t.Errorf("%.40q was accepted", text)
		}
	}
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// TestTheTicketInLineWins sends twins of the cookie in every order: bogus ones,
// one of another secret and authentic ones that ran out.
func TestTheTicketInLineWins(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	join(t, r.line)
	mine := ticketOf(r.do("GET", "/", html))
	r.strikes.Store(0)
	ranOut := TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, anyTicket()))
	for _, pairs := range []string{
		"room_ticket=bogus; " + mine, mine + "; room_ticket=bogus", ranOut + "; " + mine, mine + "; " + ranOut,
		"a=b;" + ranOut + ";room_ticket=;" + mine + ";" + ranOut, mine + "; " + mine,
	} {
		for range 25 {
			w := r.do("GET", "/", html, cookie(pairs))
			if got := ticketOf(w); got != mine {
				t.Fatalf("%q: the ticket became %q", pairs, got)
			}
			if !strings.Contains(w.Body.String(), `id="position">2<`) {
				t.Fatalf("%q: the position changed", pairs)
			}
		}
		if st := decode(t, r.do("GET", StatusPath, cookie(pairs))); st.Position != 2 {
			t.Errorf("%q: status %+v", pairs, st)
		}
	}
	if n := r.strikes.Load(); n != 0 {
		t.Errorf("%d strikes", n)
	}
}

func FuzzTicket(f *testing.F) {
	s := newRig(f, newLine(oneSlot()), nil).stage.live.Load()
	f.Add(string(s.appendTicket(nil, anyTicket())))
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := s.parseTicket(text)
		if ok && string(s.appendTicket(nil, got)) != text {
			t.Errorf("%q has a second spelling", text)
		}
	})
}
