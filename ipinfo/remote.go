package ipinfo

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"
)

// How much is remembered of what a naddr service said, and for how long. An
// unreachable one costs each address one question a minute.
const (
	remoteAddrs = 65_536
	tableWait   = 600 * time.Millisecond // for all addresses of a table

	keepKnown   = time.Hour
	keepUnknown = 10 * time.Minute
	keepFailed  = time.Minute
)

// Remote asks a naddr service, GET /ip?addr=…, in the background, and answers
// from what it has heard. Use newRemote, and keep Run going.
type Remote struct {
	base   *url.URL
	log    *slog.Logger
	client *http.Client
	queue  chan netip.Addr

	mu      sync.Mutex // guards the fields below
	answers map[netip.Addr]*answer
	err     error // of the last question; nil when it was answered
}

var _ Source = (*Remote)(nil)

// answer is what is known of one address.
type answer struct {
	details Details
	known   bool
	expires time.Time
	arrived chan struct{} // closed by the first answer
	asked   bool          // a question waits or is open
}

// newRemote returns a Remote that knows nothing yet.
func newRemote(base *url.URL, log *slog.Logger) *Remote {
	return &Remote{
		base: base, log: log,
		client: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: remoteWorkers, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		queue:   make(chan netip.Addr, remoteBacklog),
		answers: make(map[netip.Addr]*answer),
	}
}

// Lookup implements [Source]. An address that is not known yet is asked for; an
// answer whose time is over is given once more while a new one is fetched.
func (r *Remote) Lookup(a netip.Addr) (Details, bool) {
	a = a.Unmap().WithZone("")
	if !isPublic(a) {
		return Details{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ans := r.answerLocked(a)
	return ans.details, ans.known
}

// isPublic reports whether anybody outside could know a.
func isPublic(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() }

// answerLocked returns what is known, and sees to it that it becomes more.
func (r *Remote) answerLocked(a netip.Addr) *answer {
	ans := r.answers[a]
	if ans == nil {
		if len(r.answers) >= remoteAddrs {
			r.forgetOneLocked()
		}
		ans = &answer{arrived: make(chan struct{})}
		r.answers[a] = ans
	}
	if ans.asked || time.Now().Before(ans.expires) {
		return ans
	}
	select {
	case r.queue <- a:
		ans.asked = true
	default: // whoever looks next asks again
	}
	return ans
}

// forgetOneLocked makes room: of a few picked by chance, the one that expires
// first goes.
func (r *Remote) forgetOneLocked() {
	var victim netip.Addr
	n := 0
	for a, ans := range r.answers {
		if n == 0 || ans.expires.Before(r.answers[victim].expires) {
			victim = a
		}
		if n++; n == 8 {
			break
		}
	}
	delete(r.answers, victim)
}

// wait returns when the answers for all addresses have arrived, at the latest
// after tableWait.
func (r *Remote) wait(ctx context.Context, addrs []netip.Addr) {
	ctx, cancel := context.WithTimeout(ctx, tableWait)
	defer cancel()
	var pending []chan struct{}
	r.mu.Lock()
	for _, a := range addrs {
		if a = a.Unmap().WithZone(""); isPublic(a) {
			if ans := r.answerLocked(a); ans.asked {
				pending = append(pending, ans.arrived)
			}
		}
	}
	r.mu.Unlock()
	for _, arrived := range pending {
		select {
		case <-arrived:
		case <-ctx.Done():
			return
		}
	}
}

// note keeps an answer, or that there was none.
func (r *Remote) note(a netip.Addr, d Details, known bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil && r.err == nil {
		r.log.Warn("naddr service gives no answer", "service", r.base.Redacted(), "error", err)
	} else if err == nil && r.err != nil {
		r.log.Info("naddr service answers again", "service", r.base.Redacted())
	}
	r.err = err
	ans := r.answers[a]
	if ans == nil {
		return // forgotten meanwhile
	}
	now := time.Now()
	switch {
	case err != nil: // what was known stays
		ans.expires = now.Add(keepFailed)
	case known:
		ans.details, ans.known, ans.expires = d, true, now.Add(keepKnown)
	default:
		ans.details, ans.known, ans.expires = Details{}, false, now.Add(keepUnknown)
	}
	ans.asked = false
	select {
	case <-ans.arrived:
	default:
		close(ans.arrived)
	}
}

func (r *Remote) status(st *Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.Source, st.Addr, st.Cached = SourceRemote, r.base.Redacted(), len(r.answers)
	if r.err != nil {
		st.Error = r.err.Error()
	}
}
