package ipinfo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// How a naddr service is asked. An unreachable one costs each address one
// question a minute.
const (
	remoteAddrs   = 65_536 // remembered
	remoteBacklog = 1024   // questions waiting
	remoteWorkers = 8      // questions open
	askTimeout    = 3 * time.Second
	tableWait     = 600 * time.Millisecond
	answerBytes   = 64 << 10

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

// ParseServiceURL reads the address of a naddr service: host:port, or an http
// or https URL.
func ParseServiceURL(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
			return nil, errors.New("want host:port or a URL")
		}
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("malformed URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, errors.New("want http://host or https://host")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("want a URL without query and fragment")
	}
	return u, nil
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

// Run asks questions until ctx ends.
func (r *Remote) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for range remoteWorkers {
		wg.Go(func() { // ends with ctx
			for {
				select {
				case <-ctx.Done():
					return
				case a := <-r.queue:
					d, known, err := r.ask(ctx, a)
					r.note(a, d, known, err)
				}
			}
		})
	}
	wg.Wait()
	r.client.CloseIdleConnections()
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

// ask puts one question. It reports false when the service knows no answer.
func (r *Remote) ask(ctx context.Context, a netip.Addr) (Details, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	u := r.base.JoinPath("ip")
	u.RawQuery = url.Values{"addr": {a.String()}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Details{}, false, fmt.Errorf("ask for %s: %w", a, err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := r.client.Do(req)
	if err != nil {
		return Details{}, false, fmt.Errorf("ask for %s: %w", a, err)
	}
	defer resp.Body.Close() // only read from
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerBytes))
	switch {
	case err != nil:
		return Details{}, false, fmt.Errorf("read the answer for %s: %w", a, err)
	case resp.StatusCode == http.StatusNotFound:
		return Details{}, false, nil
	case resp.StatusCode != http.StatusOK:
		return Details{}, false, fmt.Errorf("ask for %s: status %d", a, resp.StatusCode)
	}
	return parseAnswer(a, body)
}

func (r *Remote) status(st *Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st.Source, st.Addr, st.Cached = SourceRemote, r.base.Redacted(), len(r.answers)
	if r.err != nil {
		st.Error = r.err.Error()
	}
}
