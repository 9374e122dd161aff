package operations

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// origin fails the test: nothing under /_room may reach it.
type origin struct{ t *testing.T }

func (o origin) Serve(v *pipeline.Visit) error {
	o.t.Errorf("%s %s reached the origin", v.R.Method, v.R.RequestURI)
	return nil
}

// reserved classifies everything as the stage's own.
type reserved struct{}

func (reserved) Name() string              { return "classify" }
func (reserved) Classes() pipeline.Classes { return pipeline.AllClasses }
func (reserved) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Operations
	return pipeline.Next, nil
}

func newPipeline(t *testing.T, token string, strikes *int) *pipeline.Pipeline {
	t.Helper()
	echo := func(v *pipeline.Visit) {
		body, err := io.ReadAll(v.R.Body)
		if err != nil {
			WriteError(v, http.StatusRequestEntityTooLarge, err.Error())
			return
		}
		WriteText(v, http.StatusOK, "open "+string(body))
	}
	s, err := New(Config{Token: token, Routes: []Route{
		{Path: "/_room/open", Methods: []string{"GET", "POST"}, Serve: echo},
		{Path: "/_room/shut", Methods: []string{"POST"}, Admin: true, Serve: echo},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return pipelinetest.New(t, pipeline.Config{
		Origin: origin{t},
		Strikes: func(_ *pipeline.Visit, k pipeline.Strike) {
			if k == pipeline.StrikeAdminToken {
				*strikes++
			}
		},
	}, reserved{}, s)
}

func ask(p http.Handler, method, path, authorization string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func TestEveryMethodAndPathEndsHere(t *testing.T) {
	var strikes int
	p := newPipeline(t, "secret", &strikes)
	f := func(method, path string, want int) {
		t.Helper()
		if got := ask(p, method, path, "").Code; got != want {
			t.Errorf("%s %s: %d, want %d", method, path, got, want)
		}
	}
	f("GET", "/_room/open", 200)
	f("HEAD", "/_room/open", 200)
	f("POST", "/_room/open", 200)
	f("DELETE", "/_room/open", 405)
	f("BREW", "/_room/open", 405)
	f("GET", "/_room/open/", 404)
	f("GET", "/_room/nothing", 404)
	f("GET", "/%5froom/open", 404)
	f("GET", "/_room//open", 404)
	f("GET", "/_room/shut", 401)
	if got := ask(p, "DELETE", "/_room/open", "").Header().Get("Allow"); got != "GET, POST" {
		t.Errorf("Allow = %q", got)
	}
}

func TestHeadHasTheHeaderAndNoBody(t *testing.T) {
	var strikes int
	w := ask(newPipeline(t, "", &strikes), "HEAD", "/_room/open", "")
	if w.Body.Len() != 0 || w.Header().Get("Content-Length") != "5" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%q %v", w.Body, w.Header())
	}
}

func TestAdminRoutesWantTheToken(t *testing.T) {
	f := func(token, authorization string, want, wantStrikes int) {
		t.Helper()
		var strikes int
		w := ask(newPipeline(t, token, &strikes), "POST", "/_room/shut", authorization)
		if w.Code != want || strikes != wantStrikes {
			t.Errorf("token %q, %q: %d with %d strikes, want %d with %d", token, authorization, w.Code, strikes, want, wantStrikes)
		}
		if challenged := w.Header().Get("Www-Authenticate") != ""; challenged != (want == 401) {
			t.Errorf("token %q, %q: challenge sent: %v", token, authorization, challenged)
		}
	}
	f("secret", "Bearer secret", 200, 0)
	f("secret", "bearer secret", 200, 0)
	f("secret", "BEARER  secret", 200, 0)
	f("secret", "", 401, 0) // a probe without credentials is not a guess
	f("secret", "Bearer secretx", 401, 1)
	f("secret", "Bearer ", 401, 1)
	f("secret", "secret", 401, 1)
	f("secret", "Basic c2VjcmV0", 401, 1)
	f("", "Bearer ", 404, 0)
	f("", "", 404, 0)
}

func TestBodiesAreBounded(t *testing.T) {
	var strikes int
	r := httptest.NewRequest("POST", "/_room/open", strings.NewReader(strings.Repeat("x", MaxBody+1)))
	w := httptest.NewRecorder()
	newPipeline(t, "", &strikes).ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Fatalf("status %d", w.Code)
	}
}

func TestPathsAreGivenOnce(t *testing.T) {
	_, err := New(Config{Routes: []Route{{Path: "/_room/a"}, {Path: "/_room/b"}, {Path: "/_room/a"}, {Path: "/_room/b"}}})
	if err == nil || !strings.Contains(err.Error(), "/_room/a") || !strings.Contains(err.Error(), "/_room/b") {
		t.Errorf("%v: want both paths named that two routes have", err)
	}
}
