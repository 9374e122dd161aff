package queue

import (
	"net/http"
	"strings"

	"github.com/andreimerlescu/concert/pipeline"
)

// caller says what the sender of a request can make of an answer, and so what
// becomes of a request that is not admitted.
type caller uint8

const (
	browser caller = iota // gets the waiting page
	program               // gets JSON and a place
	form                  // waits at the door, or is told that nothing was sent
	part                  // waits at the door, or is refused
	glimpse               // is admitted at once, or refused
	indexer               // a search crawler: as a glimpse, but told to stay away for longer
)

// takesPlace reports whether such a request may be given a place in line.
func (c caller) takesPlace() bool { return c == browser || c == program }

// mayHold reports whether such a request may stand at the door.
func (c caller) mayHold() bool { return c != glimpse && c != indexer }

// judge classifies a page request. Who was let in before, as known says, is no
// robot, whatever the browser calls itself.
func (s *settings) judge(r *http.Request, known bool) caller {
	switch r.Method {
	case http.MethodHead:
		return glimpse
	case http.MethodOptions, http.MethodTrace:
		// A preflight carries no cookies by design (Fetch, section 4.8), so a
		// place given to it would be lost.
		return part
	}
	switch {
	case pipeline.DestinationOf(r) == pipeline.Built, pipeline.IsWebSocket(first(r.Header["Upgrade"])):
		return part
	case r.Method == http.MethodGet && speculative(r.Header):
		return glimpse
	}
	if !known {
		switch robotOf(first(r.Header["User-Agent"])) {
		case looker:
			return glimpse
		case crawler:
			if s.cfg.CrawlerAnswer == CrawlersComeBack {
				return indexer
			}
		}
	}
	switch {
	case s.cfg.APIJSON && !pipeline.WantsHTML(r):
		return program
	case r.Method == http.MethodGet:
		return browser
	}
	return form
}

// wasIn reports whether the visit brings a pass, good or run out.
func wasIn(v *pipeline.Visit) bool {
	return v.Pass.State == pipeline.PassValid || v.Pass.State == pipeline.PassExpired
}

// speculative reports whether a browser loads the page on a mere suspicion
// that it will be wanted: Sec-Purpose, and the headers from before it.
func speculative(h http.Header) bool {
	purpose := first(h["Purpose"])
	return containsFold(first(h["Sec-Purpose"]), "prefetch") ||
		containsFold(purpose, "prefetch") || containsFold(purpose, "preview") ||
		containsFold(first(h["X-Purpose"]), "preview") ||
		containsFold(first(h["X-Moz"]), "prefetch")
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// containsFold reports whether s holds word, an ASCII word in lower case,
// whatever the case.
func containsFold(s, word string) bool {
	for len(s) >= len(word) {
		if strings.EqualFold(s[:len(word)], word) {
			return true
		}
		s = s[1:]
	}
	return false
}
