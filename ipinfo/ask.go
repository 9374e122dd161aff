package ipinfo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// How a naddr service is asked.
const (
	remoteBacklog = 1024 // questions waiting
	remoteWorkers = 8    // questions open
	askTimeout    = 3 * time.Second
	answerBytes   = 64 << 10
)

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
