package history_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// gate is a stage that refuses by path.
type gate map[string]pipeline.Reason

func (gate) Name() string              { return "gate" }
func (gate) Classes() pipeline.Classes { return pipeline.AllClasses }
func (g gate) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if reason := g[v.R.URL.Path]; reason != pipeline.NotRefused {
		return pipeline.Answered, v.Refuse(reason, time.Minute)
	}
	v.Rank = pipeline.Member
	if v.R.URL.Path == "/strike" {
		v.Strike(pipeline.StrikeForgedPass)
	}
	return pipeline.Next, nil
}

type origin struct{}

func (origin) Serve(v *pipeline.Visit) error {
	_, err := v.W.Write([]byte("hello"))
	return err
}

// What the pipeline makes of visits arrives as it is: a client that left is 499,
// not an error of the origin or of a path that is not there.
func TestBehindThePipeline(t *testing.T) {
	h := history.New(history.Options{Settings: history.Settings{On: true, Query: true}})
	p := pipelinetest.New(t, pipeline.Config{
		Origin: origin{}, Observers: []pipeline.Observer{h},
		Strikes: func(v *pipeline.Visit, _ pipeline.Strike) {
			h.Cause(v, func() {
				h.Banned(history.Ban{Target: v.Client.Key, Since: time.Now(), Source: "forged-pass"})
			})
		},
	}, gate{"/gone": pipeline.ClientGone, "/banned": pipeline.Banned, "/down": pipeline.OriginDown})
	for _, path := range []string{"/?a=b", "/gone", "/down", "/strike", "/banned"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = "192.0.2.1:4711"
		serve(p, r)
	}
	v, _ := h.Client(netip.MustParsePrefix("192.0.2.1/32"), time.Now())
	var got []string
	for _, e := range v.Entries {
		got = append(got, fmt.Sprint(e.Status, " ", e.Path, " ", e.Blocked, " ", e.Triggered, " ", e.Ban, " ", e.Rank))
	}
	want := []string{"429 /banned true false 1 ", "200 /strike false true 1 member", "502 /down false false 0 ", "499 /gone false false 0 ", "200 /?a=b false false 0 member"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// serve has the pipeline answer, or cut a connection.
func serve(p *pipeline.Pipeline, r *http.Request) {
	defer func() {
		if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
			panic(failure)
		}
	}()
	p.ServeHTTP(httptest.NewRecorder(), r)
}
