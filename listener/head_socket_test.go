package listener

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Fields that net/http does not hear of go out with the answer that they were
// put in, large or small, gathered or not, whatever says that it will follow;
// and with no other.
func TestHead(t *testing.T) {
	g := New(Config{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, n := Plain(r), 0
		_, _ = fmt.Sscan(r.URL.Query().Get("n"), &n) // 0 without one
		if r.URL.Query().Has("hint") {
			w.WriteHeader(http.StatusEarlyHints)
		}
		if r.URL.Query().Has("head") {
			head := c.Head()
			*head = append(*head, "X-First: 1\r\nX-Second: 2\r\n"...)
			if c.Head() != head {
				t.Error("two places for the fields of one answer")
			}
		}
		gather := r.URL.Query().Has("gather") && c.Gather()
		w.Header()["Content-Length"] = []string{fmt.Sprint(n)}
		_, _ = io.WriteString(w, strings.Repeat("x", n))
		if gather {
			if err := c.Send(); err != nil {
				t.Error(err)
			}
		}
	}))
	srv.Listener = g.Wrap(srv.Listener)
	srv.Config.ConnState, srv.Config.ConnContext = g.State, g.Context
	srv.Start()
	t.Cleanup(srv.Close)
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := bufio.NewReader(conn)
	for _, request := range []string{
		"GET /?head&n=0", "GET /?n=100", "GET /?head&n=100", "HEAD /?head&n=100", "GET /?head&n=10000", "GET /?n=10000",
		"GET /?head&n=10000&gather", "GET /?n=10000&gather", "GET /?head&hint&n=100", "GET /?head&hint&n=10000&gather", "GET /?n=0",
	} {
		if _, err := io.WriteString(conn, request+" HTTP/1.1\r\nHost: a.example\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		wantHead(t, r, request)
	}
}

// wantHead reads the answer to a request of TestHead and checks it.
func wantHead(t *testing.T, r *bufio.Reader, request string) {
	t.Helper()
	method, query, _ := strings.Cut(request, " /?")
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		first, second := resp.Header["X-First"], resp.Header["X-Second"]
		if resp.StatusCode < http.StatusOK {
			if first != nil {
				t.Errorf("%s: fields came before their answer", request)
			}
			continue
		}
		size := 0
		if _, after, ok := strings.Cut(query, "n="); ok && method == http.MethodGet {
			_, _ = fmt.Sscan(after, &size)
		}
		if err != nil || len(body) != size {
			t.Errorf("%s: %d bytes, want %d; %v", request, len(body), size, err)
		}
		if want := strings.Contains(query, "head"); want != (len(first) == 1 && len(second) == 1) || !want && first != nil {
			t.Errorf("%s: the header is %q", request, resp.Header)
		}
		return
	}
}

// Connections that several requests share, and those over TLS, offer nothing.
func TestPlainOffersNothingElsewhere(t *testing.T) {
	g := New(Config{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if c := Plain(r); c != nil {
			t.Errorf("%s over TLS: %v", r.Proto, c)
		}
	}))
	srv.Listener = g.Wrap(srv.Listener)
	srv.EnableHTTP2 = true
	srv.Config.ConnState, srv.Config.ConnContext = g.State, g.Context
	srv.StartTLS()
	t.Cleanup(srv.Close)
	resp, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if c := Plain(httptest.NewRequest("GET", "/", nil)); c != nil {
		t.Errorf("no connection of ours: %v", c)
	}
}
