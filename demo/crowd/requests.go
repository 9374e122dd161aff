package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

const (
	// browserAccept is what makes the waiting room answer with its page.
	browserAccept = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	// fallbackPause is used when an answer asks for no pause of its own.
	fallbackPause = time.Second
	// pageBytes bounds what is read of any answer.
	pageBytes = 1 << 20
)

// status is what a visitor reads of the waiting room's status answer.
type status struct {
	Ready       bool `json:"ready"`
	Position    int  `json:"position"`
	PollAfterMS int  `json:"poll_after_ms"`
}

// load asks for the page. again means that it was the waiting room, or a
// refusal that names a pause after which to come back.
func (s *visit) load(ctx context.Context) (again bool, pause time.Duration) {
	resp, _, err := s.get(ctx, s.Page)
	if err != nil {
		s.fail(ctx, fmt.Errorf("page: %w", err))
		return false, 0
	}
	if seq, err := strconv.ParseInt(resp.Header.Get(SeqHeader), 10, 64); err == nil && resp.StatusCode == http.StatusOK {
		s.result.Outcome, s.result.Seq, s.result.Done = Admitted, seq, time.Now()
		if s.OnAdmitted != nil {
			s.OnAdmitted(ctx, s.client)
		}
		return false, 0
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true, retryAfter(resp)
	}
	s.fail(ctx, fmt.Errorf("page: status %d", resp.StatusCode))
	return false, 0
}

// wait returns true when it is time to reload the page. Without a place in
// line (it was full, say) there is nothing to poll for: the pause is all.
func (s *visit) wait(ctx context.Context, pause time.Duration) bool {
	if !s.hasTicket() {
		return s.sleep(ctx, pause)
	}
	pause = s.Poll
	if pause == 0 {
		pause = fallbackPause // the built-in page asks first after a second
	}
	for s.sleep(ctx, pause) {
		st, err := s.poll(ctx)
		if err != nil {
			s.fail(ctx, fmt.Errorf("status: %w", err))
			return false
		}
		if st.Ready {
			return true
		}
		if s.Poll == 0 && st.PollAfterMS > 0 {
			pause = time.Duration(st.PollAfterMS) * time.Millisecond
		}
	}
	return false
}

// poll asks once whether the visitor's turn has come.
func (s *visit) poll(ctx context.Context) (status, error) {
	resp, body, err := s.get(ctx, s.status)
	if err != nil {
		return status{}, err
	}
	s.result.Polls++
	if resp.StatusCode == http.StatusTooManyRequests {
		return status{}, nil // asked too often: not an end, only a pause
	}
	if resp.StatusCode != http.StatusOK {
		return status{}, fmt.Errorf("status %d", resp.StatusCode)
	}
	var st status
	if err := json.Unmarshal(body, &st); err != nil {
		return status{}, fmt.Errorf("read %q: %w", body, err)
	}
	if s.last > 0 && st.Position > s.last {
		s.result.Rises++
	}
	s.last = st.Position
	return st, nil
}

func (s *visit) hasTicket() bool {
	for _, c := range s.client.Jar.Cookies(s.page) {
		if c.Name == ticketCookie {
			return true
		}
	}
	return false
}

// sleep waits for d and the jitter; false means that the context ended.
func (s *visit) sleep(ctx context.Context, d time.Duration) bool {
	d += time.Duration(s.Rand.Float64() * s.Jitter * float64(d))
	return ticks.Pause(ctx, d)
}

func (s *visit) get(ctx context.Context, address string) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", browserAccept)
	if s.Address != "" {
		req.Header.Set("X-Forwarded-For", s.Address)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, pageBytes))
	return resp, body, err
}

// retryAfter reads the header in its seconds form (RFC 9110, 10.2.3).
func retryAfter(resp *http.Response) time.Duration {
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return fallbackPause
}
