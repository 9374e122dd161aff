package ipinfo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stub is a naddr service that lives in a bubble.
type stub struct {
	answer func(addr string) (status int, body string, err error)
	asked  atomic.Int64
	open   atomic.Int64
	most   atomic.Int64
	wait   time.Duration
}

// RoundTrip implements http.RoundTripper.
func (s *stub) RoundTrip(req *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	s.most.Store(max(s.most.Load(), s.open.Add(1)))
	defer s.open.Add(-1)
	select {
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case <-time.After(s.wait):
	}
	if req.URL.Path != "/ip" || req.Method != http.MethodGet {
		return nil, errors.New("asked for " + req.URL.Path)
	}
	status, body, err := s.answer(req.URL.Query().Get("addr"))
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// pass lets time pass, in a bubble.
func pass(d time.Duration) { time.Sleep(d) }

func good(addr string) (int, string, error) {
	return 200, fmt.Sprintf(`{"ip":%q,"ess":{"cc":"LT","asn":"AS64496","desc":"UAB of %s"}}`, addr, addr), nil
}

func withRemote(t *testing.T, s *stub, f func(t *testing.T, r *Remote)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRemote(&url.URL{Scheme: "http", Host: "naddr"}, slog.New(slog.DiscardHandler))
		r.client.Transport = s
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.Run(ctx)
		f(t, r)
	})
}

var someone = netip.MustParseAddr("203.0.113.9")

// lookup returns who owns someone, after what is under way has been done.
func lookup(r *Remote) string {
	d, ok := r.Lookup(someone)
	synctest.Wait()
	return fmt.Sprint(ok, " ", d.Description)
}

func TestRemoteAnswersFromMemory(t *testing.T) {
	s := &stub{answer: good}
	withRemote(t, s, func(t *testing.T, r *Remote) {
		f := func(wait time.Duration, want string, asked int64) {
			t.Helper()
			pass(wait)
			if got := lookup(r); got != want || s.asked.Load() != asked {
				t.Errorf("after %v: %s, asked %d times; want %s, %d times", wait, got, s.asked.Load(), want, asked)
			}
		}
		f(0, "false ", 1)
		f(time.Second, "true UAB of 203.0.113.9", 1)
		f(59*time.Minute, "true UAB of 203.0.113.9", 1)
		f(time.Minute, "true UAB of 203.0.113.9", 2) // the old answer, while it is asked again
		for range 100 {
			r.Lookup(netip.MustParseAddr("10.1.2.3"))
			r.Lookup(netip.MustParseAddr("::1"))
			r.Lookup(netip.Addr{})
		}
		f(time.Second, "true UAB of 203.0.113.9", 2)
	})
}

func TestRemoteThatFails(t *testing.T) {
	broken := errors.New("connection refused")
	answer := func(status int, body string, err error) func(string) (int, string, error) {
		return func(string) (int, string, error) { return status, body, err }
	}
	f := func(name string, wait time.Duration, answer func(string) (int, string, error), again time.Duration, failed bool) {
		t.Helper()
		s := &stub{answer: answer, wait: wait}
		withRemote(t, s, func(t *testing.T, r *Remote) {
			lookup(r)
			pass(10 * time.Second)
			if got := lookup(r); got != "false " {
				t.Errorf("%s: %s", name, got)
			}
			var st Status
			r.status(&st)
			if failed != (st.Error != "") {
				t.Errorf("%s: error %q", name, st.Error)
			}
			pass(again - 11*time.Second)
			if lookup(r); s.asked.Load() != 1 {
				t.Errorf("%s: asked again too early", name)
			}
			pass(5 * time.Second)
			if lookup(r); s.asked.Load() != 2 {
				t.Errorf("%s: asked %d times, want 2", name, s.asked.Load())
			}
			pass(time.Minute)
		})
	}
	f("gone", 0, answer(0, "", broken), keepFailed, true)
	f("slow", time.Hour, good, keepFailed, true)
	f("status 500", 0, answer(500, "{}", nil), keepFailed, true)
	f("redirect", 0, answer(302, "{}", nil), keepFailed, true)
	f("page", 0, answer(200, "<html>", nil), keepFailed, true)
	f("null", 0, answer(200, "null", nil), keepFailed, true)
	f("endless", 0, answer(200, `{"x":"`+strings.Repeat("y", 2*answerBytes), nil), keepFailed, true)
	f("unknown", 0, answer(404, "", nil), keepUnknown, false)
	f("nothing in it", 0, answer(200, `{"cc":"None","n":0}`, nil), keepUnknown, false)
}

func TestRemoteKeepsWhatItKnewWhenTheServiceGoes(t *testing.T) {
	s := &stub{answer: good}
	withRemote(t, s, func(t *testing.T, r *Remote) {
		lookup(r)
		s.answer = func(string) (int, string, error) { return 0, "", errors.New("gone") }
		for range 5 {
			pass(time.Hour)
			if got := lookup(r); got != "true UAB of 203.0.113.9" {
				t.Error(got)
			}
		}
	})
}

func TestRemoteLimits(t *testing.T) {
	s := &stub{answer: good, wait: time.Second}
	withRemote(t, s, func(t *testing.T, r *Remote) {
		for i := range uint32(remoteAddrs + 1000) {
			r.Lookup(addr4(0x0100_0000 + i))
		}
		if n := len(r.answers); n != remoteAddrs {
			t.Errorf("%d addresses remembered, want %d", n, remoteAddrs)
		}
		pass(time.Hour)
		if n := s.asked.Load(); n > remoteBacklog+remoteWorkers {
			t.Errorf("%d questions for a burst, want at most %d", n, remoteBacklog+remoteWorkers)
		}
		if n := s.most.Load(); n != remoteWorkers {
			t.Errorf("%d questions at once, want %d", n, remoteWorkers)
		}
	})
}

func TestTableWaitsForAnswers(t *testing.T) {
	f := func(wait time.Duration, known int, took time.Duration) {
		t.Helper()
		withRemote(t, &stub{answer: good, wait: wait}, func(t *testing.T, r *Remote) {
			service := &Service{remote: r}
			start := time.Now()
			got := service.LookupAll(t.Context(), []netip.Addr{someone, netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("127.0.0.1")})
			if len(got) != known || time.Since(start) != took {
				t.Errorf("service takes %v: %d known after %v, want %d after %v", wait, len(got), time.Since(start), known, took)
			}
			pass(10 * time.Second)
		})
	}
	f(500*time.Millisecond, 2, 500*time.Millisecond)
	f(700*time.Millisecond, 0, 600*time.Millisecond)
	f(time.Hour, 0, 600*time.Millisecond)
}

func TestParseAnswer(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		d, known, err := parseAnswer(someone, []byte(body))
		if got := fmt.Sprint(known, err != nil, " ", d.ASN, " ", d.Code, " ", d.Description, " ", d.Range()); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	f(`{"cc":"LT","country":"Lithuania","n":64496,"asn":"AS64496","desc":"UAB","range":"203.0.113.0/24"}`, "true false 64496 LT UAB 203.0.113.0/24")
	f(`{"announced":true,"as_country_code":"US","as_number":3356,"as_description":"L","first_ip":"203.0.113.0","last_ip":"203.0.113.9"}`, "true false 3356 US L 203.0.113.0-203.0.113.9")
	f(`{"data":{"network":{"range":"203.0.113.0-203.0.113.255","asn":"as7"},"country":"de"}}`, "true false 7 DE  203.0.113.0/24")
	f(`{"asn":7,"range":"198.51.100.0/24"}`, "true false 7 None  ")
	f(`{"asn":7,"first":"203.0.113.10","last":"203.0.113.20"}`, "true false 7 None  ")
	f(`{"asn":-1,"cc":"<b>","desc":"a\u001b[31m\nb"}`, "false false 0 None a [31m b ")
	f(`{"n":null,"asn":[],"desc":{"desc":{"desc":{"desc":"too deep"}}}}`, "false false 0 None  ")
	f(`[]`, "false true 0   ")
	f(``, "false true 0   ")
}

func FuzzParseAnswer(f *testing.F) {
	f.Add(`{"cc":"LT","n":64496,"asn":"AS64496","desc":"UAB","range":"203.0.113.0/24"}`)
	f.Add(`{"range":"203.0.113.0-203.0.113.255","a":{"b":{"first":"::1%x"}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		d, _, err := parseAnswer(someone, []byte(body))
		if err == nil && d.First.IsValid() && (someone.Less(d.First) || d.Last.Less(someone)) {
			t.Errorf("range %s does not contain %s", d.Range(), someone)
		}
	})
}

func TestParseServiceURL(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := "error"
		if u, err := ParseServiceURL(text); err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	f("127.0.0.1:8088", "http://127.0.0.1:8088")
	f("[::1]:80", "http://[::1]:80")
	f("https://naddr.example/v1/", "https://naddr.example/v1/")
	f("naddr.example", "error")
	f("naddr.example:", "error")
	f("ftp://naddr.example", "error")
	f("http://", "error")
	f("http://naddr.example/?a=b", "error")
	f("http://%zz", "error")
}
