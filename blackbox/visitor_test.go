package blackbox

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// visitor is a client with a cookie jar.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
	header http.Header // sent with every request
}

// answer is a response that was read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// place is what /queue/status says.
type place struct {
	Ready           bool     `json:"ready"`
	Position        int      `json:"position"`
	Ahead           *int     `json:"ahead"`
	ETASeconds      *float64 `json:"eta_seconds"`
	PollAfterMS     int      `json:"poll_after_ms"`
	State           string   `json:"state"`
	Utilization     float64  `json:"utilization"`
	CookiesRequired bool     `json:"cookies_required"`
}

func newVisitor(t *testing.T, p *launch.Process) *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	return &visitor{
		t: t, base: p.URL, header: http.Header{},
		client: &http.Client{
			Jar: jar, Transport: own, Timeout: rawtest.Patience,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// at has the visitor come from an address of its own, as a trusted proxy says.
func (v *visitor) at(address string) *visitor {
	v.header.Set("X-Forwarded-For", address)
	return v
}

// follow has the visitor go where redirects point, as browsers do.
func (v *visitor) follow() *visitor {
	v.client.CheckRedirect = nil
	return v
}

// do sends a request with an Accept header ("" sends none).
func (v *visitor) do(method, path, accept, body string) answer {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	for k, values := range v.header {
		req.Header[k] = values
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatalf("%s %s: read the body: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// page opens a page as a browser does.
func (v *visitor) page(path string) answer {
	v.t.Helper()
	return v.do(http.MethodGet, path, "text/html", "")
}

// status polls for the visitor's turn; told that it asked too soon after the
// last time, it waits as long as it is told and asks again.
func (v *visitor) status() place {
	v.t.Helper()
	for {
		a := v.do(http.MethodGet, "/queue/status", "application/json", "")
		if a.status == http.StatusTooManyRequests {
			seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
			if err != nil {
				v.t.Fatalf("429 with Retry-After %q: %v", a.header.Get("Retry-After"), err)
			}
			<-time.After(time.Duration(seconds) * time.Second)
			continue
		}
		var p place
		if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != http.StatusOK {
			v.t.Fatalf("status %d, body %q: %v", a.status, a.body, err)
		}
		return p
	}
}

// awaitTurn polls at the pace asked for until the visitor is told to come.
func (v *visitor) awaitTurn() {
	v.t.Helper()
	for deadline := time.Now().Add(rawtest.Patience); ; {
		p := v.status()
		if p.Ready {
			return
		}
		if time.Now().After(deadline) {
			v.t.Fatalf("waited in vain for a turn; last told %+v", p)
		}
		<-time.After(time.Duration(max(p.PollAfterMS, 1)) * time.Millisecond)
	}
}

// comeIn waits for the visitor's turn, as often as it takes, and returns the
// origin's page.
func (v *visitor) comeIn(path string) answer {
	v.t.Helper()
	for range 20 {
		a := v.page(path)
		if a.isOrigin() {
			return a
		}
		v.awaitTurn()
	}
	v.t.Fatal("told to come twenty times, and never let in")
	return answer{}
}

// cookie returns the value of the visitor's cookie of that name, or "".
func (v *visitor) cookie(name string) string {
	u, err := url.Parse(v.base)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range v.client.Jar.Cookies(u) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// later runs f in the background. When f fails the test, the answer is empty.
func later(f func() answer) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		defer close(c)
		c <- f()
	}()
	return c
}

func (a answer) isOrigin() bool {
	return a.status == http.StatusOK && strings.Contains(a.body, originMark)
}

// isWaitingPage reports whether the answer is the waiting page with a place.
func (a answer) isWaitingPage() bool {
	return strings.HasPrefix(a.header.Get("Content-Type"), "text/html") &&
		strings.Contains(a.body, "/queue/status") && strings.Contains(a.body, `id="position">`)
}
