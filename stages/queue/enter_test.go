package queue

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

func waitingAt(position int) line.Decision {
	return line.Decision{Verdict: line.Waiting, Place: line.Place{
		Ticket: anyTicket(), Fresh: true, Position: position, Ahead: position - 1, ETA: time.Minute, PollAfter: 2 * time.Second}}
}

func TestVerdicts(t *testing.T) {
	tests := []struct {
		name    string
		verdict line.Verdict
		method  string
		status  int
		reason  string // in the JSON
		retry   [2]int // Retry-After from, to
	}{
		{"admitted", line.Admitted, "GET", 200, "", [2]int{}},
		{"full", line.Full, "GET", 503, "waiting room is full", [2]int{5, 8}},
		{"too many", line.TooMany, "GET", 429, "too many places in line for one address", [2]int{10, 15}},
		{"shut", line.Shut, "GET", 503, "waiting room is closed", [2]int{60, 90}},
		{"busy head", line.Busy, "HEAD", 503, "", [2]int{5, 8}},
		{"busy preflight", line.Busy, "OPTIONS", 503, "busy", [2]int{5, 8}},
		{"unknown", line.Verdict(99), "GET", 500, "internal error", [2]int{5, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &script{answers: []line.Decision{{Verdict: tt.verdict, Slot: 7}}}
			r := newRig(t, l, nil)
			w := r.do(tt.method, "/")
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d", w.Code, tt.status)
			}
			if tt.verdict == line.Admitted {
				if !slices.Equal(l.released, []line.Slot{7}) {
					t.Errorf("released %v", l.released)
				}
				return
			}
			if got := w.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control %q", got)
			}
			retry, _ := strconv.Atoi(w.Header().Get("Retry-After"))
			if retry < tt.retry[0] || retry > tt.retry[1] {
				t.Errorf("Retry-After %d, want %v", retry, tt.retry)
			}
			if tt.reason == "" && w.Body.Len() > 0 {
				t.Errorf("a body: %s", w.Body)
			}
			if !strings.Contains(w.Body.String(), tt.reason) {
				t.Errorf("body %s, want %q", w.Body, tt.reason)
			}
			if r.strikes.Load() != 0 || ticketOf(w) != "" || r.seen() != "" {
				t.Errorf("strikes %d, ticket %q, origin %q", r.strikes.Load(), ticketOf(w), r.seen())
			}
		})
	}
}

func TestRefusalsAreSpread(t *testing.T) {
	set := newRefusalSet(pipeline.LineFull, 60*time.Second)
	seen := map[time.Duration]bool{}
	for _, f := range set {
		seen[f.RetryAfter] = true
	}
	if len(seen) != spread {
		t.Errorf("%d different waits, want %d", len(seen), spread)
	}
}

func TestEntries(t *testing.T) {
	s := newRig(t, newLine(oneSlot()), nil).stage.live.Load()
	pair := TicketCookie + "=" + string(s.appendTicket(nil, anyTicket()))
	tests := []struct {
		name, method string
		options      []option
		want         line.Entry
	}{
		{"page", "GET", []option{html, cookie(pair)}, line.Entry{Ticket: anyTicket(), MayHold: true}},
		{"program", "GET", []option{cookie(pair)}, line.Entry{Ticket: anyTicket(), MayHold: true}},
		{"made up", "GET", []option{html, cookie("room_ticket=abc")}, line.Entry{MayHold: true}},
		{"form", "POST", []option{html, cookie(pair)}, line.Entry{Ticket: anyTicket(), NoPlace: true, MayHold: true}},
		{"image", "GET", []option{header("Sec-Fetch-Dest", "image"), cookie(pair)}, line.Entry{NoPlace: true, MayHold: true}},
		{"preflight", "OPTIONS", []option{cookie(pair)}, line.Entry{NoPlace: true, MayHold: true}},
		{"head", "HEAD", []option{html, cookie(pair)}, line.Entry{NoPlace: true}},
		{"prefetch", "GET", []option{html, header("Sec-Purpose", "prefetch"), cookie(pair)}, line.Entry{NoPlace: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &script{answers: []line.Decision{{Verdict: line.Admitted}}}
			newRig(t, l, nil).do(tt.method, "/", tt.options...)
			got := l.entries[0]
			if !got.Client.IsValid() || got.Client.Bits() != 32 {
				t.Errorf("client %v", got.Client)
			}
			got.Client = tt.want.Client
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestLineAway(t *testing.T) {
	r := newRig(t, &script{err: errAway}, nil)
	pair := TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, anyTicket()))
	other := anyTicket()
	other.Number++
	twins := pair + "; " + TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, other))
	for name, w := range map[string]*httptest.ResponseRecorder{
		"page":    r.do("GET", "/", html),
		"tickets": r.do("GET", "/", html, cookie(twins)),
		"poll":    r.do("GET", StatusPath, cookie(pair)),
		"leave":   r.do("POST", LeavePath, cookie(pair)),
	} {
		if w.Code != http.StatusInternalServerError {
			t.Errorf("%s: status %d, want 500", name, w.Code)
		}
		if strings.Contains(w.Body.String(), errAway.Error()) {
			t.Errorf("%s: the cause is shown: %s", name, w.Body)
		}
	}
}

// atDoor sends a page request that stands at the door for ten seconds at most
// and returns once it does.
func atDoor(t *testing.T, r *rig, options ...option) <-chan *httptest.ResponseRecorder {
	t.Helper()
	done := make(chan *httptest.ResponseRecorder, 1)
	go func() { done <- r.do("GET", "/", options...) }()
	synctest.Wait()
	select {
	case w := <-done:
		t.Fatalf("answered at once with %d", w.Code)
	default:
	}
	return done
}

func doorDecision(d *scriptDoor) line.Decision {
	return line.Decision{Verdict: line.AtDoor, Door: d, Until: time.Now().Add(10 * time.Second)}
}

func TestDoorGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(line.Decision{})
		l := &script{answers: []line.Decision{doorDecision(door)}}
		r := newRig(t, l, nil)
		done := atDoor(t, r, html)
		time.Sleep(2 * time.Second)
		door.grant(line.Decision{Verdict: line.Admitted, Slot: 3})
		if w := <-done; w.Code != http.StatusOK || w.Body.String() != "from the origin" {
			t.Errorf("status %d, body %q", w.Code, w.Body)
		}
		if !slices.Equal(l.released, []line.Slot{3}) {
			t.Errorf("released %v", l.released)
		}
		if r.waited[0] != 2*time.Second || r.waits[0] != 2*time.Second {
			t.Errorf("waited %v and %v, want 2s", r.waited, r.waits)
		}
	})
}

func TestDoorOutlasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(waitingAt(4))
		r := newRig(t, &script{answers: []line.Decision{doorDecision(door)}}, nil)
		began := time.Now()
		w := <-atDoor(t, r, html)
		if got := time.Since(began); got != 10*time.Second {
			t.Errorf("stood for %v", got)
		}
		if gone := <-door.left; gone {
			t.Error("the line was told that the client hung up")
		}
		if !strings.Contains(w.Body.String(), `id="position">4<`) || ticketOf(w) == "" {
			t.Error("no waiting page with the place")
		}
	})
}

func TestClientLeavesTheDoor(t *testing.T) {
	for _, tt := range []struct {
		name     string
		onLeave  line.Decision
		released []line.Slot
	}{
		{"in time", waitingAt(1), nil},
		{"after the grant", line.Decision{Verdict: line.Admitted, Slot: 9}, []line.Slot{9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				door := newDoor(tt.onLeave)
				l := &script{answers: []line.Decision{doorDecision(door)}}
				r := newRig(t, l, nil)
				ctx, hangUp := context.WithCancel(t.Context())
				done := atDoor(t, r, html, within(ctx))
				hangUp()
				w := <-done
				if gone := <-door.left; !gone {
					t.Error("the line was not told that the client hung up")
				}
				if w.Body.Len() > 0 || len(w.Header()) > 0 || r.seen() != "" {
					t.Errorf("answered %q %v, origin %q", w.Body, w.Header(), r.seen())
				}
				if !slices.Equal(l.released, tt.released) {
					t.Errorf("released %v, want %v", l.released, tt.released)
				}
				if r.p.Stats().Refused[pipeline.ClientGone] != 1 || r.stage.Stats().Gone != 1 {
					t.Error("the client is not counted as gone")
				}
			})
		})
	}
}

// TestGrantForNobody grants a slot in the moment the client hangs up.
func TestGrantForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door := newDoor(line.Decision{Verdict: line.Admitted, Slot: 5})
		l := &script{answers: []line.Decision{doorDecision(door)}}
		r := newRig(t, l, nil)
		ctx, hangUp := context.WithCancel(t.Context())
		door.grant(line.Decision{Verdict: line.Admitted, Slot: 5})
		hangUp()
		r.do("GET", "/", html, within(ctx))
		if r.seen() != "" || !slices.Equal(l.released, []line.Slot{5}) {
			t.Errorf("origin %q, released %v", r.seen(), l.released)
		}
	})
}

func TestSpentAtTheDoor(t *testing.T) {
	spent := newDoor(line.Decision{})
	spent.grant(line.Decision{Verdict: line.Spent})
	l := &script{answers: []line.Decision{doorDecision(spent), waitingAt(8)}}
	r := newRig(t, l, nil)
	pair := TicketCookie + "=" + string(r.stage.live.Load().appendTicket(nil, anyTicket()))
	w := r.do("GET", "/", html, cookie(pair))
	if !strings.Contains(w.Body.String(), `id="position">8<`) {
		t.Errorf("body %.200s", w.Body)
	}
	if len(l.entries) != 2 || l.entries[0].Ticket != anyTicket() || !l.entries[1].Ticket.IsZero() {
		t.Errorf("entries %+v", l.entries)
	}
	if r.strikes.Load() != 0 {
		t.Error("struck for a ticket that was used up")
	}
}

func TestSpentForEver(t *testing.T) {
	spent := newDoor(line.Decision{})
	spent.grant(line.Decision{Verdict: line.Spent})
	l := &script{}
	for range maxSpent {
		l.answers = append(l.answers, doorDecision(spent))
	}
	l.answers = append(l.answers, waitingAt(2))
	r := newRig(t, l, nil)
	if w := r.do("GET", "/", html); !strings.Contains(w.Body.String(), `id="position">2<`) {
		t.Errorf("body %.200s", w.Body)
	}
	if last := l.entries[len(l.entries)-1]; last.MayHold || last.NoPlace {
		t.Errorf("the last entry is %+v", last)
	}
}

// TestDoorWithTheRealLine lets one visitor wait at the door until the slot is
// free.
func TestDoorWithTheRealLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := oneSlot()
		s.DoorMax, s.DoorWait = 10, 3*time.Second
		l := newLine(s)
		r := newRig(t, l, nil)
		for range 3 { // the line learns that slots are held for 100 ms
			release := r.fill()
			time.Sleep(100 * time.Millisecond)
			release()
		}
		release := r.fill()
		done := atDoor(t, r, html)
		release()
		if w := <-done; w.Code != http.StatusOK || w.Body.String() != "from the origin" {
			t.Errorf("status %d, body %.100s", w.Code, w.Body)
		}
		if n := l.Stats(time.Now()).InFlight; n != 0 {
			t.Errorf("%d slots are still out", n)
		}
	})
}
