package crowd

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// SeqHeader is the response header in which the origin numbers its pages, from
// 1, in the order in which it began to work on them.
const SeqHeader = "X-Origin-Seq"

// StatusPath is where a waiting visitor asks for its turn.
const StatusPath = "/queue/status"

// ticketCookie is the place in line; a visitor without one can only reload.
const ticketCookie = "room_ticket"

// Outcome is how a visit ended.
type Outcome uint8

// The outcomes of a visit.
const (
	Unfinished Outcome = iota // the context ended first
	Admitted                  // the origin's page arrived whole
	Left                      // saw the waiting room and never came back
	Failed                    // an error or a refusal that invites no retry
)

// Visitor is one person with one browser. The zero value of every field but
// Page is useful.
type Visitor struct {
	Page string // absolute URL of the page wanted

	// Address is what the visitor's requests name in X-Forwarded-For, to a
	// server that trusts this machine as its proxy; empty sends no header.
	Address string
	// Poll is the pause between two status polls; 0 follows the pause that
	// each answer asks for in poll_after_ms, as the built-in page does.
	Poll time.Duration
	// Jitter lengthens each pause by up to this share of it (0 to 1).
	Jitter float64
	// Leaves is for the impatient: gone at the sight of the waiting room.
	Leaves bool
	// Transport carries the requests; nil gives the visitor one connection of
	// its own, as a browser has.
	Transport http.RoundTripper
	// Rand supplies the jitter; nil is a source seeded at random.
	Rand *rand.Rand
	// OnQueued, when set, is called once: when the waiting room is first seen.
	OnQueued func()
	// OnAdmitted, when set, is called after the page was read, with the
	// visitor's client: its cookies, and its connection, still open.
	OnAdmitted func(ctx context.Context, client *http.Client)
}

// Result tells what happened to a visitor. Times are zero when the moment
// never came.
type Result struct {
	Outcome Outcome
	Err     error // why Failed

	Arrived time.Time // began
	Sent    time.Time // first request was written: the place in line that is due
	Done    time.Time // the origin's page was read whole

	Seq     int64 // the origin's number of the page
	Queued  bool  // was shown the waiting room at least once
	Polls   int   // status polls
	Reloads int   // of the page, after having been told to
	Bounced int   // reloads that met the waiting room again
	Rises   int   // polls that showed a higher position than the one before
}

// visit is the state of one Visit.
type visit struct {
	*Visitor
	client *http.Client
	page   *url.URL
	status string // absolute URL of the status address
	sent   atomic.Int64
	result Result
	last   int // position seen last, 0 before the first poll
}

// Visit plays the visitor from arrival to its end. It returns when the page
// has arrived, the visitor has given up or the context has ended.
func (v *Visitor) Visit(ctx context.Context) Result {
	page, err := url.Parse(v.Page)
	if err != nil {
		return Result{Outcome: Failed, Err: err}
	}
	jar, _ := cookiejar.New(nil) // documented never to fail without options
	s := visit{
		Visitor: v,
		client:  &http.Client{Jar: jar, Transport: v.Transport},
		page:    page,
		status:  page.ResolveReference(&url.URL{Path: StatusPath}).String(),
	}
	if v.Transport == nil {
		own := &http.Transport{MaxIdleConnsPerHost: 1, DisableCompression: true}
		s.client.Transport = own
		defer own.CloseIdleConnections()
	}
	if v.Rand == nil {
		v.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	s.play(ctx)
	if ns := s.sent.Load(); ns != 0 {
		s.result.Sent = time.Unix(0, ns)
	}
	return s.result
}

// play loads the page until it is the origin's, waiting in between.
func (s *visit) play(ctx context.Context) {
	s.result.Arrived = time.Now()
	first := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		// Runs on the transport's goroutine, hence the atomic.
		WroteRequest: func(httptrace.WroteRequestInfo) {
			s.sent.CompareAndSwap(0, time.Now().UnixNano())
		},
	})
	for {
		again, pause := s.load(first)
		if !again || s.queue(ctx) {
			return
		}
		if !s.wait(ctx, pause) {
			return
		}
		s.result.Reloads++
	}
}

// queue notes that the waiting room was seen; true means that the visitor leaves.
func (s *visit) queue(ctx context.Context) bool {
	if s.result.Queued {
		s.result.Bounced++
		return ctx.Err() != nil
	}
	s.result.Queued = true
	if s.OnQueued != nil {
		s.OnQueued()
	}
	if s.Leaves {
		s.result.Outcome = Left
	}
	return s.Leaves
}

// fail ends the visit with err, unless the end of the context is behind it.
func (s *visit) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		s.result.Outcome, s.result.Err = Failed, err
	}
}
