package crowd

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// script answers the requests of one visitor in order, without a network: all
// of it happens in the test's bubble of time.
type script struct {
	answers []answer
	from    []string // X-Forwarded-For of each request
	asked   []string
}

// answer is one line of a script; zero fields are left out of the response.
type answer struct {
	status int
	body   string
	seq    string
	ticket bool
	retry  string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked = append(s.asked, r.URL.Path)
	s.from = append(s.from, r.Header.Get("X-Forwarded-For"))
	if len(s.answers) == 0 {
		return nil, fmt.Errorf("the script has ended")
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	h := http.Header{}
	if a.seq != "" {
		h.Set(SeqHeader, a.seq)
	}
	if a.ticket {
		h.Set("Set-Cookie", "room_ticket=t; Path=/")
	}
	if a.retry != "" {
		h.Set("Retry-After", a.retry)
	}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

var (
	page = answer{status: 200, body: "the site", seq: "7"}
	room = answer{status: 200, body: "please wait", ticket: true}
	now  = answer{status: 200, body: `{"ready":true,"position":1}`}
)

func at(position, afterMS int) answer {
	return answer{status: 200, body: fmt.Sprintf(`{"ready":false,"position":%d,"poll_after_ms":%d}`, position, afterMS)}
}

func TestVisit(t *testing.T) {
	tests := []struct {
		name    string
		visitor Visitor
		answers []answer
		want    Result
		err     string
		took    time.Duration
	}{
		{name: "no line", answers: []answer{page}, want: Result{Outcome: Admitted, Seq: 7}},
		{
			name: "polls when the answers say", answers: []answer{room, at(9, 3000), at(4, 2000), now, page},
			want: Result{Outcome: Admitted, Seq: 7, Queued: true, Polls: 3, Reloads: 1}, took: 6 * time.Second,
		},
		{
			name: "polls at its own pace", visitor: Visitor{Poll: 4 * time.Second},
			answers: []answer{room, at(9, 3000), now, page},
			want:    Result{Outcome: Admitted, Seq: 7, Queued: true, Polls: 2, Reloads: 1}, took: 8 * time.Second,
		},
		{
			name: "sent back to the room", answers: []answer{room, now, room, now, page},
			want: Result{Outcome: Admitted, Seq: 7, Queued: true, Polls: 2, Reloads: 2, Bounced: 1}, took: 2 * time.Second,
		},
		{
			name: "position rises", answers: []answer{room, at(3, 1000), at(5, 1000), at(5, 1000), now, page},
			want: Result{Outcome: Admitted, Seq: 7, Queued: true, Polls: 4, Reloads: 1, Rises: 1}, took: 4 * time.Second,
		},
		{
			name: "full line: reloads as told, does not poll", answers: []answer{{status: 503, retry: "7"}, page},
			want: Result{Outcome: Admitted, Seq: 7, Queued: true, Reloads: 1}, took: 7 * time.Second,
		},
		{
			name: "polled too often: goes on", answers: []answer{room, {status: 429}, now, page},
			want: Result{Outcome: Admitted, Seq: 7, Queued: true, Polls: 2, Reloads: 1}, took: 2 * time.Second,
		},
		{name: "leaves", visitor: Visitor{Leaves: true}, answers: []answer{room}, want: Result{Outcome: Left, Queued: true}},
		{name: "leaves only a line", visitor: Visitor{Leaves: true}, answers: []answer{page}, want: Result{Outcome: Admitted, Seq: 7}},
		{name: "bad gateway", answers: []answer{{status: 502}}, want: Result{Outcome: Failed}, err: "page: status 502"},
		{
			name: "broken status", answers: []answer{room, {status: 200, body: "<html>"}},
			want: Result{Outcome: Failed, Queued: true, Polls: 1}, err: "status: read", took: time.Second,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, s := tt.visitor, &script{answers: tt.answers}
				v.Page, v.Transport = "http://site.test/", s
				began := time.Now()
				got := v.Visit(t.Context())
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				ignore := cmpopts.IgnoreFields(Result{}, "Err", "Arrived", "Sent", "Done")
				if diff := cmp.Diff(tt.want, got, ignore); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if (got.Err == nil) != (tt.err == "") || got.Err != nil && !strings.Contains(got.Err.Error(), tt.err) {
					t.Errorf("error %v, want %q", got.Err, tt.err)
				}
				if len(s.answers) > 0 {
					t.Errorf("%d answers not asked for; asked %q", len(s.answers), s.asked)
				}
			})
		})
	}
}

func TestVisitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		queued := 0
		v := Visitor{
			Page: "http://site.test/", OnQueued: func() { queued++ },
			Transport: &script{answers: []answer{room, at(9, 60_000)}},
		}
		got := v.Visit(ctx)
		if got.Outcome != Unfinished || got.Err != nil || got.Polls != 1 || queued != 1 {
			t.Errorf("got %+v, queued %d times; want an unfinished visit with one poll", got, queued)
		}
	})
}

func TestJitterLengthensPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := Visitor{Page: "http://site.test/", Jitter: 0.5, Transport: &script{answers: []answer{room, now, page}}}
		began := time.Now()
		v.Visit(t.Context())
		if took := time.Since(began); took < time.Second || took > 1500*time.Millisecond {
			t.Errorf("a pause of 1 s with half of it as jitter took %v", took)
		}
	})
}

func TestSendSpreadsArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards at
		var at []time.Duration
		began := time.Now()
		n := Send(t.Context(), 4, 2*time.Second, func(context.Context, int) {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(began))
		})
		want := []time.Duration{0, 500 * time.Millisecond, time.Second, 1500 * time.Millisecond}
		if n != 4 || !slices.Equal(at, want) {
			t.Errorf("started %d at %v, want 4 at %v", n, at, want)
		}
	})
}

func TestSendStopsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer cancel()
		var ended atomic.Int32
		n := Send(ctx, 10, 5*time.Second, func(ctx context.Context, _ int) {
			<-ctx.Done()
			ended.Add(1)
		})
		// At 0 and 0.5 s; at 1 s the context has ended.
		if n != 2 || ended.Load() != 2 {
			t.Errorf("started %d, ended %d; want 2 and 2", n, ended.Load())
		}
	})
}

func TestAddress(t *testing.T) {
	for i, want := range map[int]string{0: "198.18.0.0", 259: "198.18.1.3", 65536: "198.19.0.0"} {
		if got := Address(i); got != want {
			t.Errorf("Address(%d) = %s, want %s", i, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := &script{answers: []answer{room, now, page}}
		v := Visitor{Page: "http://site.test/", Address: Address(1), Transport: s}
		v.Visit(t.Context())
		if want := []string{"198.18.0.1", "198.18.0.1", "198.18.0.1"}; !slices.Equal(s.from, want) {
			t.Errorf("requests came from %q, want %q", s.from, want)
		}
	})
}
