package blackbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// startDelivering runs Concert over TLS in front of a site whose answers come
// in all the ways that an answer can. What is sent on the channel releases the
// next piece of /events.
func startDelivering(t *testing.T) (s *secure, next chan struct{}) {
	t.Helper()
	next = make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, originMark) })
	mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("x", 5000))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/trailers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Checksum")
		fmt.Fprint(w, "body")
		w.Header().Set("X-Checksum", "abc")
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	o := httptest.NewServer(mux)
	t.Cleanup(o.Close)
	s = startSecure(t, strings.TrimPrefix(o.URL, "http://"), "-cap", "2", "-stream-paths", "/events")
	return s, next
}

// TestTLSDelivery: over both protocols, what the origin sends arrives as it is
// sent, what it does not finish is not taken for whole, and what the client
// gives up is given up.
func TestTLSDelivery(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("h2=%v", h2), func(t *testing.T) {
			t.Parallel()
			s, next := startDelivering(t)
			v := s.visitor(t, h2)
			v.client.Timeout = 0
			get := func(ctx context.Context, path string, body io.Reader) *http.Response {
				t.Helper()
				method := http.MethodGet
				if body != nil {
					method = http.MethodPost
				}
				req, err := http.NewRequestWithContext(ctx, method, s.URL+path, body)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept", "text/html")
				req.Header.Set("TE", "trailers")
				resp, err := v.client.Do(req)
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				t.Cleanup(func() { _ = resp.Body.Close() })
				if (resp.ProtoMajor == 2) != h2 || resp.StatusCode != http.StatusOK {
					t.Fatalf("%s: %s over %s", path, resp.Status, resp.Proto)
				}
				return resp
			}
			ctx := within(t, rawtest.Patience)
			_ = get(ctx, "/", nil).Body.Close()

			events := bufio.NewReader(get(ctx, "/events", nil).Body)
			for i := range 3 { // each comes before the next is sent
				if line, err := events.ReadString('\n'); line != fmt.Sprintf("data: %d\n", i) {
					t.Fatalf("event %d: %q, %v", i, line, err)
				}
				_, _ = events.ReadString('\n')
				next <- struct{}{}
			}
			if _, err := events.ReadByte(); err != io.EOF {
				t.Errorf("after the last event: %v", err)
			}

			if got, err := io.ReadAll(get(ctx, "/cut", nil).Body); err == nil {
				t.Errorf("an answer that was cut off after %d bytes is taken for whole", len(got))
			}
			resp := get(ctx, "/trailers", nil)
			if body, err := io.ReadAll(resp.Body); string(body) != "body" || err != nil || resp.Trailer.Get("X-Checksum") != "abc" {
				t.Errorf("body %q, trailers %v, %v", body, resp.Trailer, err)
			}

			large := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
			sum := sha256.New()
			if _, err := io.Copy(sum, get(ctx, "/echo", bytes.NewReader(large)).Body); err != nil || !bytes.Equal(sum.Sum(nil), sumOf(large)) {
				t.Errorf("8 MiB there and back: %v, or not the same", err)
			}

			given, giveUp := context.WithCancel(ctx)
			done := make(chan error, 1)
			go func() { // ends with given
				req, err := http.NewRequestWithContext(given, http.MethodGet, s.URL+"/slow", nil)
				if err == nil {
					_, err = v.client.Do(req)
				}
				done <- err
			}()
			rawtest.Until(t, "the slow page is at the origin", func() bool { return s.stats(t).Occupancy == 1 })
			giveUp()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("given up: %v", err)
			}
			rawtest.Until(t, "the slot is free", func() bool { return s.stats(t).Occupancy == 0 })
		})
	}
}

func sumOf(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}
