package ban_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
	"github.com/andreimerlescu/concert/stages/ban"
)

const stranger = "203.0.113.9"

func registry(tb testing.TB, change func(*abuse.Config)) *abuse.Registry {
	tb.Helper()
	c := abuse.Config{
		Enabled: true, Strikes: 20, Window: time.Minute, Cooldown: 5 * time.Minute,
		MaxCooldown: 24 * time.Hour, MaxEntries: 1000,
	}
	if change != nil {
		change(&c)
	}
	r, err := abuse.New(c, time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func trust(tb testing.TB, list string) *clientip.Trust {
	tb.Helper()
	set, err := clientip.ParseTrust(list)
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

// origin says that it was reached.
type origin struct{}

// Serve implements pipeline.Origin.
func (origin) Serve(v *pipeline.Visit) error {
	v.EditResponse(http.StatusOK, v.W.Header())
	_, err := io.WriteString(v.W, "origin")
	return err
}

func banStage(tb testing.TB, r *abuse.Registry) *ban.Stage {
	tb.Helper()
	table, err := paths.Build(
		paths.List[bool]{Name: "-ban-paths", Entries: "/.env,/.git/*", Value: true, Strict: true},
		paths.List[bool]{Name: "-assets", Entries: "/css/*"},
	)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := ban.New(r, ban.Config{Paths: table, Ticket: &http.Cookie{Name: "room_ticket", Path: "/"}})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func build(tb testing.TB, s *ban.Stage, o pipeline.Origin, behind ...pipeline.Stage) *pipeline.Pipeline {
	tb.Helper()
	return pipelinetest.New(tb, pipeline.Config{Origin: o, Strikes: s.Strike}, append([]pipeline.Stage{s}, behind...)...)
}

// request is one of the stranger's; header lines are pairs.
func request(method, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	r.RemoteAddr = stranger + ":4711"
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func overTLS(r *http.Request) *http.Request {
	r.TLS = &tls.ConnectionState{}
	return r
}

// order bans the stranger, or somebody else, as an operator does.
func order(tb testing.TB, r *abuse.Registry, who string, d time.Duration) {
	tb.Helper()
	client, err := abuse.ParseClient(who)
	if err == nil {
		_, err = r.Ban(abuse.Order{Client: client, For: d, Permanent: d == 0}, time.Now())
	}
	if err != nil {
		tb.Fatal(err)
	}
}
