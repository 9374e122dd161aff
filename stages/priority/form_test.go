package priority

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// What counts as a form, and of whom.
func TestWhatIsAForm(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		free := r.hold("/hold")
		f := func(method string, want int, options ...option) {
			t.Helper()
			r.wantStatus(method, r.call(method, "/a", options...).Code, want)
		}
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			f(method, 200, pass("p"))
			f(method, 202)
			f(method, 202, header("Test-Expired", "p"))
		}
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "post", "BREW"} {
			f(method, 202, pass("p"))
		}
		free()
	})
}

// A form that gets no slot is told that it was not sent, whatever its rank.
func TestFormsOfEveryRankAreRefusedSafely(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		defer r.hold("/hold")()
		defer r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))()
		for rank := range pipeline.NumRanks {
			id := fmt.Sprint("visitor-", rank)
			a := r.send("POST", "/lost", pass(id), r.grant(id, rank, 0, time.Hour))
			time.Sleep(5 * time.Second)
			r.wantStatus(rank.String(), a.over(), 503)
			var body struct {
				Error     string `json:"error"`
				Submitted *bool  `json:"submitted"`
			}
			if err := json.Unmarshal(a.Body.Bytes(), &body); err != nil || body.Error != "busy" || body.Submitted == nil || *body.Submitted {
				t.Errorf("%v: %s, %v", rank, a.Body, err)
			}
			if n, _ := strconv.Atoi(a.Header().Get("Retry-After")); n < 5 || n > 8 {
				t.Errorf("Retry-After: %s", a.Header().Get("Retry-After"))
			}
			if a.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control: %s", a.Header().Get("Cache-Control"))
			}
		}
		if strings.Contains(r.origin(), "/lost") {
			t.Errorf("the origin got %s", r.origin())
		}
		if st := r.stage.Stats(); st.FormsRefused != uint64(pipeline.NumRanks) {
			t.Errorf("%+v", st)
		}
	})
}

// A thousand forms meet a site at the edge of being busy: each reaches the
// origin exactly once, or is told that it was not sent.
func TestFormsRacingTheBusyEdge(t *testing.T) {
	const forms = 1000
	bubble(t, 3, func(c *Config) { c.Cap, c.Wait = 2, time.Second }, func(r *rig) {
		status := make([]int, forms)
		var all sync.WaitGroup
		for i := range forms {
			id := fmt.Sprint("p", i/3)
			grant := r.grant(id, pipeline.Rank(i%int(pipeline.NumRanks)), 0, time.Hour)
			all.Go(func() {
				time.Sleep(time.Duration(i) * 15 * time.Millisecond)
				path := fmt.Sprint("/slow/", i)
				status[i] = r.call("POST", path, pass(id), grant).Code
			})
			if i%10 == 0 { // pages that come and go, and fill the line
				all.Go(func() {
					time.Sleep(time.Duration(i) * 15 * time.Millisecond)
					r.call("GET", "/slow")
				})
			}
		}
		all.Wait()
		at := map[string]int{}
		for _, line := range r.seen {
			at[line]++
		}
		sent, unsent := 0, 0
		for i, got := range status {
			reached := at[fmt.Sprintf("POST /slow/%d body", i)]
			switch {
			case got == http.StatusOK && reached == 1:
				sent++
			case got == http.StatusServiceUnavailable && reached == 0:
				unsent++
			default:
				t.Errorf("form %d: answered %d, %d times at the origin", i, got, reached)
			}
		}
		if sent < 200 || unsent < 200 {
			t.Errorf("%d sent and %d unsent: not at the edge", sent, unsent)
		}
		if peak := r.peak.Load(); peak > 5 {
			t.Errorf("%d at the origin at once", peak)
		}
		t.Logf("%d sent, %d told that they were not", sent, unsent)
	})
}

// A small form may be held for longer than the lane's wait.
func TestFormHold(t *testing.T) {
	bubble(t, 1, func(c *Config) { c.FormHold = 20 * time.Second }, func(r *rig) {
		defer r.hold("/hold")()
		free := r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))
		a := r.send("POST", "/held", pass("q"))
		large := r.send("POST", "/large", pass("s"), func(r *http.Request) { r.ContentLength = pipeline.MaxHeldBody + 1 })
		page := r.send("GET", "/page", pass("u"), r.grant("u", pipeline.Staff, 0, time.Hour))
		time.Sleep(15 * time.Second)
		r.wantStatus("small form", a.over(), 0)
		r.wantStatus("large form", large.over(), 503)
		r.wantStatus("page", page.over(), 202)
		free()
		r.wantStatus("small form with a slot free", a.over(), 200)
		if !strings.Contains(r.origin(), "POST /held body") {
			t.Errorf("the origin got %s", r.origin())
		}
	})
}

func TestWithoutWaitingAFullLaneRefusesAtOnce(t *testing.T) {
	bubble(t, 1, func(c *Config) { c.Wait = 0 }, func(r *rig) {
		defer r.hold("/hold")()
		free := r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))
		a := r.send("POST", "/a", pass("q"))
		r.wantStatus("full lane", a.over(), 503)
		free()
		r.wantStatus("free lane", r.send("POST", "/a", pass("q")).over(), 200)
	})
}
