package site

import (
	"fmt"
	"html/template"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
)

var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The record fair</title>
<link rel="stylesheet" href="/style/site.css">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<script src="/script/site.js" defer></script>
</head>
<body>
<main>
<h1>You are in.</h1>
<p>This page is number <b>{{.Seq}}</b> of the demo's origin, a pool of {{.Workers}} workers
that took {{.Took}} for it. Everybody else is waiting for a turn.</p>
<p class="covers">{{range .Images}}<img src="{{.}}" alt="A record cover" width="96" height="96"> {{end}}</p>
<p id="script">The script has not run.</p>
<p><a href="/">Load it again</a>: while the crowd is there you will wait again.</p>
</main>
</body>
</html>
`))

// servePage takes a worker, spends the latency and writes the page.
func (s *Site) servePage(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		gatewayError(w, http.StatusBadGateway)
		return
	}
	defer s.count(func(st *Stats) { st.Present-- })
	if !s.takeWorker(w, r) {
		return
	}
	defer func() { <-s.workers }()

	var seq int64
	s.count(func(st *Stats) { st.Started++; seq = st.Started })
	took := s.latency()
	if !work(r, took) {
		s.count(func(st *Stats) { st.Gone++ })
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set(crowd.SeqHeader, strconv.FormatInt(seq, 10))
	err := page.Execute(w, map[string]any{
		"Seq": seq, "Workers": s.options.Workers, "Took": took.Round(time.Millisecond), "Images": images,
	})
	s.count(func(st *Stats) {
		if err != nil {
			st.Gone++
			return
		}
		st.Served++
	})
}

// enter counts a page in; false means that the backlog is full.
func (s *Site) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stats.Present >= s.options.Workers+s.options.Backlog {
		s.stats.Refused++
		return false
	}
	s.stats.Present++
	s.stats.Peak = max(s.stats.Peak, s.stats.Present)
	return true
}

// takeWorker waits in the backlog, first come, first served, until a worker is
// free. When it returns false the visit has ended.
func (s *Site) takeWorker(w http.ResponseWriter, r *http.Request) bool {
	s.count(func(st *Stats) { st.Backlog++ })
	defer s.count(func(st *Stats) { st.Backlog-- })
	patience := time.NewTimer(s.options.BacklogTime)
	defer patience.Stop()
	select {
	case s.workers <- struct{}{}:
		return true
	case <-r.Context().Done():
		s.count(func(st *Stats) { st.Gone++ })
	case <-patience.C:
		s.count(func(st *Stats) { st.TimedOut++ })
		gatewayError(w, http.StatusGatewayTimeout)
	}
	return false
}

// gatewayError is what visitors see of a site that has no worker left for them.
func gatewayError(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<!doctype html><title>%[1]d</title><h1>%[1]d %[2]s</h1>\n<p>Every worker is busy.</p>\n",
		status, http.StatusText(status))
}

// latency is the configured one, varied by the spread.
func (s *Site) latency() time.Duration {
	vary := 1 + s.options.Spread*(2*rand.Float64()-1)
	return time.Duration(float64(s.options.Latency) * vary)
}

// work spends the page's time; false means that the client left meanwhile. A
// real pool would work on; this one does not waste the demo's time.
func work(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
