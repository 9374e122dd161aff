package blackbox

import (
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// masses are many visitors who share connections. Each has a ticket.
type masses struct {
	t       *testing.T
	client  *http.Client
	tickets []string
}

// places has the chosen visitors load the page, and returns their places; -1
// stands for a visitor who was not chosen. A visitor without a ticket gets one.
func (m *masses) places(p *launch.Process, chosen []int) []int {
	m.t.Helper()
	places := slices.Repeat([]int{-1}, len(m.tickets))
	work := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { // ends with the work
			for i := range work {
				places[i] = m.place(p, i)
			}
		})
	}
	for _, i := range chosen {
		work <- i
	}
	close(work)
	wg.Wait()
	if m.t.Failed() {
		m.t.FailNow()
	}
	return places
}

func (m *masses) place(p *launch.Process, i int) int {
	req, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, p.URL+"/", nil)
	if err != nil {
		m.t.Error(err)
		return 0
	}
	req.Header.Set("Accept", "text/html")
	if m.tickets[i] != "" {
		req.AddCookie(&http.Cookie{Name: "room_ticket", Value: m.tickets[i]})
	}
	resp, err := m.client.Do(req)
	if err != nil {
		m.t.Error(err)
		return 0
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		m.t.Error(err)
		return 0
	}
	for _, c := range resp.Cookies() {
		if c.Name == "room_ticket" {
			m.tickets[i] = c.Value
		}
	}
	found := shownPosition.FindSubmatch(body)
	if found == nil {
		m.t.Errorf("visitor %d: status %d, and no place", i, resp.StatusCode)
		return 0
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		m.t.Error(err)
	}
	return n
}

// TestTenThousandSurvive a clean restart with identical places, and then a kill
// in the order they had. Invariant 4.
func TestTenThousandSurvive(t *testing.T) {
	t.Parallel()
	const n = 10_000
	o, dir := newOrigin(t), dataDir(t)
	// On a slow machine it takes longer than usual until somebody asks again.
	args := []string{"-room", "paused", "-max-queue", "0", "-queue-per-client", "0", "-access-log=false", "-history=false",
		"-first-poll-grace", "0", "-token-ttl", "1h"}
	m := &masses{t: t, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, tickets: make([]string, n)}
	t.Cleanup(m.client.CloseIdleConnections)
	everybody := rand.Perm(n)

	p := startIn(t, dir, o.Addr(), args...)
	before := m.places(p, everybody)
	sorted := slices.Sorted(slices.Values(before))
	for i, place := range sorted {
		if place != i+1 {
			t.Fatalf("places are not 1 to %d: place %d is %d", n, i+1, place)
		}
	}
	stop(t, p)
	p = startIn(t, dir, o.Addr(), args...)
	if after := m.places(p, rand.Perm(n)); !slices.Equal(before, after) {
		t.Error("invariant 4: places changed in a clean restart")
	}

	// Those who ask again after the kill are a third; all others are away.
	p.Kill()
	p = startIn(t, dir, o.Addr(), args...)
	back := rand.Perm(n)[:n/3]
	m.places(p, back)
	after := m.places(p, back)
	slices.SortFunc(back, func(a, b int) int { return before[a] - before[b] })
	for k := 1; k < len(back); k++ {
		if after[back[k]] <= after[back[k-1]] {
			t.Fatalf("invariant 4: who had places %d and %d has %d and %d after the kill", before[back[k-1]], before[back[k]], after[back[k-1]], after[back[k]])
		}
	}
}
