package soak

import (
	"net/http"
	"strings"
	"sync"
)

// auditor counts the pages that the origin works on at once: from when one comes
// until its answer begins, since who has an answer may let the next one in
// before the handler has returned. Pages of visitors who left count as others do.
//
// A request whose body breaks off is given up by Concert, which the origin
// hears a moment later. It cannot have been carried out, and is no excess,
// however late it ended.
type auditor struct {
	next http.Handler
	most int // pages at once that are allowed

	mu      sync.Mutex // guards the fields below
	present map[*page]struct{}
	peak    int // most at once
	wg      sync.WaitGroup
}

// page is one that is being worked on.
type page struct {
	over chan struct{} // closed at its end; gone is set before
	gone bool          // its body broke off
	once sync.Once     // it is counted out
}

func newAuditor(next http.Handler, most int) *auditor {
	return &auditor{next: next, most: most, present: map[*page]struct{}{}}
}

// ServeHTTP counts a page in and out.
func (a *auditor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &page{over: make(chan struct{})}
	a.enter(p)
	leave := func() { p.once.Do(func() { a.leave(p, r) }) }
	defer leave()
	a.next.ServeHTTP(&answering{w, leave}, r)
}

// answering counts a page out when its answer begins.
type answering struct {
	http.ResponseWriter
	begun func()
}

func (w *answering) WriteHeader(status int) {
	w.begun()
	w.ResponseWriter.WriteHeader(status)
}

func (w *answering) Write(p []byte) (int, error) {
	w.begun()
	return w.ResponseWriter.Write(p)
}

func (a *auditor) enter(p *page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.present[p] = struct{}{}
	if n := len(a.present); n <= a.most {
		a.peak = max(a.peak, n)
		return
	}
	together := make([]*page, 0, len(a.present))
	for other := range a.present {
		together = append(together, other)
	}
	a.wg.Go(func() { a.judge(together) }) // ends with the last of them
}

func (a *auditor) leave(p *page, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.present, p)
	// Who breaks off by profession has done so, even if it was not heard yet.
	p.gone = r.ContentLength != 0 && (r.Context().Err() != nil || strings.HasPrefix(r.Header.Get("X-Forwarded-For"), quitter))
	close(p.over)
}

// judge waits for the end of pages that were there together, and counts those
// that were not given up.
func (a *auditor) judge(together []*page) {
	wanted := 0
	for _, p := range together {
		<-p.over
		if !p.gone {
			wanted++
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.peak = max(a.peak, wanted)
}

// mostAtOnce returns the most pages at once. Nothing may be at the origin any more.
func (a *auditor) mostAtOnce() int {
	a.wg.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.peak
}
