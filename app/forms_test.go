package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A thousand forms of every kind of visitor over real connections, at a site
// that is now busy and now not: each reaches the origin exactly once, or its
// sender is told that it was not sent.
func TestFormsRacingTheBusyEdge(t *testing.T) {
	const forms, senders = 1000, 100
	s := newStreet(t, "-cap", "3", "-priority-cap", "2", "-priority-wait", "20ms")
	s.shop.pace = 2 * time.Millisecond
	_, guest := s.ask("GET", "/", "")
	_, staff := s.ask("GET", "/?rank=staff", "")
	cookies := []string{guest, staff, ""}

	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: senders}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	status := make([]int, forms)
	next := make(chan int)
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for i := range next {
				status[i] = postForm(t, client, fmt.Sprint(s.server.URL, "/form/", i), cookies[i%len(cookies)])
			}
		})
	}
	for i := range forms {
		if i%50 == 0 { // a page that takes a place in line, and gives it up
			_, jar := s.ask("GET", "/page", "")
			s.ask("POST", "/queue/leave", jar)
		}
		next <- i
	}
	close(next)
	all.Wait()

	sent, unsent := 0, 0
	for i, got := range status {
		switch reached := s.shop.saw(fmt.Sprint("POST /form/", i)); {
		case got == http.StatusOK && reached == 1:
			sent++
		case got == http.StatusServiceUnavailable && reached == 0:
			unsent++
		default:
			t.Errorf("form %d: answered %d, %d times at the origin", i, got, reached)
		}
	}
	if sent < forms/100 || unsent < forms/100 {
		t.Errorf("%d sent, %d not: not at the edge", sent, unsent)
	}
	if peak := s.shop.peakOf(); peak > 5 {
		t.Errorf("%d at the origin at once, at most 5 are allowed", peak)
	}
	t.Logf("%d sent, %d told that they were not", sent, unsent)
}

// postForm sends a form as a browser would and returns the answer's status. A
// 503 must say that nothing was sent.
func postForm(t *testing.T, client *http.Client, url, cookies string) int {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("a=1"))
	if err != nil {
		t.Error(err)
		return 0
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if cookies != "" {
		req.Header.Set("Cookie", cookies)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = resp.Body.Close() }() // read to its end
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	if resp.StatusCode == http.StatusServiceUnavailable && !strings.Contains(string(body), "Your form was not sent") {
		t.Errorf("a refused form is told: %s", body)
	}
	return resp.StatusCode
}
