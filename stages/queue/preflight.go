package queue

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// Preflights are the questions a browser asks before a script's request to
// another site (Fetch, section 4.8). Their answers are the origin's business
// and depend on nothing but the question: no cookies come with it. So what the
// origin said is remembered for as long as it allows browsers to remember it,
// and given again while the origin has no slot free.
const (
	rememberedPreflights = 256
	maxPreflightKey      = 2 << 10 // bytes; longer questions are not remembered
	// defaultPreflightAge is how long an answer without Access-Control-Max-Age
	// holds, and maxPreflightAge the longest that any does.
	defaultPreflightAge = 5 * time.Second
	maxPreflightAge     = 10 * time.Minute
)

// corsPrefix is what the headers that make up an answer begin with.
const corsPrefix = "Access-Control-"

// preflightTable remembers the latest answers.
type preflightTable struct {
	mu      sync.Mutex // guards the fields below
	next    int
	answers [rememberedPreflights]preflightAnswer
}

// preflightAnswer is what the origin answered, until when that holds.
type preflightAnswer struct {
	question string
	until    time.Time
	header   http.Header // shared with responses: never written to
}

// isPreflight reports whether the request is a preflight (Fetch, "CORS
// protocol").
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && first(r.Header["Origin"]) != "" && first(r.Header["Access-Control-Request-Method"]) != ""
}

// question is everything that the answer to a preflight may depend on.
func question(r *http.Request) string {
	h := r.Header
	return strings.Join([]string{
		r.Host, r.RequestURI, first(h["Origin"]), first(h["Access-Control-Request-Method"]),
		strings.Join(h["Access-Control-Request-Headers"], ","), first(h["Access-Control-Request-Private-Network"]),
	}, "\n")
}

// find returns the answer's headers; nil when none is remembered.
func (t *preflightTable) find(now time.Time, question string) http.Header {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.answers {
		if a := &t.answers[i]; a.question == question && now.Before(a.until) {
			return a.header
		}
	}
	return nil
}

func (t *preflightTable) remember(a preflightAnswer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.answers {
		if t.answers[i].question == a.question {
			t.answers[i] = a
			return
		}
	}
	t.answers[t.next] = a
	t.next = (t.next + 1) % len(t.answers)
}

// EditResponse implements [pipeline.ResponseEditor] for preflights that reach
// the origin: it remembers what the origin allows. What it does not allow is
// asked again each time.
func (s *settings) EditResponse(v *pipeline.Visit, status int, header http.Header) {
	key := question(v.R)
	age := preflightAge(header)
	if status < 200 || status > 299 || header["Access-Control-Allow-Origin"] == nil || age <= 0 || len(key) > maxPreflightKey {
		return
	}
	kept := http.Header{}
	for name, values := range header {
		if strings.HasPrefix(name, corsPrefix) {
			kept[name] = append([]string(nil), values...)
		}
	}
	s.preflights.remember(preflightAnswer{key, s.cfg.Now().Add(age), kept})
}

// preflightAge is how long the answer with that header holds.
func preflightAge(h http.Header) time.Duration {
	text := first(h["Access-Control-Max-Age"])
	if text == "" {
		return defaultPreflightAge
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return defaultPreflightAge
	}
	return min(time.Duration(min(n, 1<<30))*time.Second, maxPreflightAge)
}

// enterPreflight brings a preflight before the line. A remembered answer spares
// it the door, where it would stand before the request that it is about.
func (s *settings) enterPreflight(q *visit) (pipeline.Verdict, error) {
	if err := s.seekAtOnce(q); err != nil {
		return pipeline.Answered, err
	}
	if q.decision.Verdict == line.Admitted {
		return s.admit(q)
	}
	if s.answerPreflight(q) {
		return pipeline.Answered, nil
	}
	return s.takeTurn(q)
}

// answerPreflight answers a preflight the way the origin did; false when it is
// not known how.
func (s *settings) answerPreflight(q *visit) bool {
	kept := s.preflights.find(s.cfg.Now(), question(q.R))
	if kept == nil {
		return false
	}
	s.counters.preflights.Add(1)
	h := q.W.Header()
	for name, values := range kept {
		h[name] = values
	}
	h["Cache-Control"] = noStore
	h["Vary"] = varyPreflight
	q.W.WriteHeader(http.StatusNoContent)
	return true
}
