package view

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// policy is the portal's own: whatever it forbids must not be needed.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// stand serves the sample pages, with a line that tests can move.
type stand struct {
	*httptest.Server
	mu     sync.Mutex // guards the fields below
	frame  Frame
	ahead  int  // visitors who have left the front of the line
	broken bool // nothing is answered
	began  time.Time
	calls  []string // of the API, without fragments and series
}

func newStand(t *testing.T) *stand {
	s := &stand{frame: sampleFrame(), began: time.Now()}
	s.frame.Refresh = time.Second
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// change changes the stand between two requests.
func (s *stand) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// called returns the API calls so far.
func (s *stand) called() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.calls, "\n")
}

// queue is a page of the line as it stands.
func (s *stand) queue(r *http.Request) QueuePage {
	page, _ := strconv.Atoi(r.FormValue("page"))
	size, _ := strconv.Atoi(r.FormValue("size"))
	p := QueuePage{Paging: NewPaging(10_000-s.ahead, page, size)}
	p.Query = r.FormValue("q")
	for i := range p.Size {
		row := sampleQueueRow(p.First() + i + 1 + s.ahead)
		row.Position -= s.ahead
		p.Rows = append(p.Rows, row)
	}
	p.Where = map[string]int{}
	for _, key := range strings.Split(r.FormValue("keys"), ",") {
		p.Where[key] = 0
		if i := slices.IndexFunc(p.Rows, func(r QueueRow) bool { return r.ID == key }); i >= 0 {
			p.Where[key] = p.Page
		} else if s.ahead < 0 {
			p.Where[key] = p.Page + 1
		}
	}
	return p
}

func (s *stand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Security-Policy", policy)
	s.frame.Now = sampleNow.Add(time.Since(s.began))
	if name, found := strings.CutPrefix(r.URL.Path, "/assets/"); found {
		body, contentType, ok := Asset(name)
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
		return
	}
	if name, found := strings.CutPrefix(r.URL.Path, "/api/"); found {
		s.api(w, r, name)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = s.page(w, r) // what is rendered is tested elsewhere, and the page may have been left
}

func (s *stand) page(w io.Writer, r *http.Request) error {
	open := r.FormValue("open") != ""
	switch r.URL.Path {
	case "/":
		return RenderOverview(w, s.frame, sampleOverview())
	case "/queue":
		return RenderQueue(w, s.frame, s.queue(r))
	case "/bans":
		return RenderBans(w, s.frame, sampleBans())
	case "/visitors":
		return RenderVisitors(w, s.frame, sampleVisitors(open))
	case "/banlog":
		return RenderBanLog(w, s.frame, sampleBanLog(open))
	case "/settings":
		return RenderSettings(w, s.frame, sampleSettings())
	case "/access":
		return RenderAccess(w, s.frame, sampleAccess())
	}
	return RenderSignIn(w, SignIn{Name: s.frame.Name, Wrong: r.URL.Path == "/wrong"})
}

func (s *stand) api(w http.ResponseWriter, r *http.Request, name string) {
	var answer any
	var err error
	switch name {
	case "frag/overview":
		answer, err = OverviewFragment(s.frame, sampleOverview())
	case "frag/queue":
		answer, err = QueueFragment(s.frame, s.queue(r))
	case "frag/bans":
		answer, err = BansFragment(s.frame, sampleBans())
	case "frag/visitors":
		answer, err = VisitorsFragment(s.frame, sampleVisitors(false))
	case "frag/visitor":
		answer, err = VisitorFragment(s.frame, sampleDetail())
	case "frag/banlog":
		answer, err = BanLogFragment(s.frame, sampleBanLog(false))
	case "frag/ban":
		answer, err = BanFragment(s.frame, BanDetail{BanView: sampleBanView(12, "active"), Owner: owners[0]})
	case "frag/find":
		answer, err = FindFragment(s.frame, sampleFound())
	case "series":
		answer = sampleSeries()
	default:
		answer, err = s.act(r, name)
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]any{"error": err.Error(), "problems": []map[string]string{{"key": "max_queue", "value": "many", "want": "a number"}}}
	}
	_ = json.NewEncoder(w).Encode(answer) // the page may have been left
}

// act takes down what the scripts ask for, and answers as the API would.
func (s *stand) act(r *http.Request, name string) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if r.Method != http.MethodGet && r.Header.Get("X-CSRF-Token") != s.frame.CSRF {
		return nil, errors.New("no token")
	}
	s.calls = append(s.calls, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(body)))
	edited := Edited{DryRun: r.FormValue("dry-run") != "", Changed: []Change{{"cap", "50", "40", "file", "file"}},
		Affects: []Affected{{"cap", 7, "47 page requests are at the origin; nobody is let in until 8 of them are done"}}, Warnings: []string{}}
	switch name {
	case "bans/preview":
		return BanPreview{Client: r.FormValue("client"), Range: true, Waiting: 12, ExemptWithin: []string{"198.51.100.10"}}, nil
	case "settings":
		if strings.Contains(string(body), "many") {
			return nil, errors.New("-max-queue is many: want a number of visitors from 0 to 2147483647")
		}
		return edited, nil
	case "settings/undo":
		return edited, nil
	}
	return map[string]any{"client": "198.51.100.0/24", "until": nil, "dropped": 12, "ban_seconds": 300, "undo": "x", "promoted": "x", "kicked": "x", "banned": true}, nil
}
