package upstream

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzAnswer holds the parser of answers against net/http's: whatever ours
// takes, the other must take for the same, up to the last byte.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		okReply, "HTTP/1.0 200\r\n\r\nuntil the end", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A, b\r\n\r\n2;x=\"y\"\r\nok\r\n0A  \r\n0123456789\r\n0\r\na: 1\r\nc: 2\r\n\r\nrest",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nconnection: close, x\r\n\r\nok", "HTTP/1.1 200 OK\r\nA:\r\n\tb\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nX:" + strings.Repeat(" a", 3000) + "\r\n\r\n",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, head bool) {
		method := map[bool]string{true: "HEAD", false: "GET"}[head]
		ours := bufio.NewReaderSize(bytes.NewReader(raw), 64)
		r := headReader{br: ours, left: headerBytes}
		got, err := r.read(make(http.Header))
		if err != nil || got.status < 200 {
			return
		}
		framing, length, err := got.framing(method)
		if err != nil {
			return
		}
		b := bodyReader{br: ours, framing: framing, left: max(length, 0)}
		body, bodyErr := io.ReadAll(&b)

		theirs := bufio.NewReader(bytes.NewReader(raw))
		resp, err := http.ReadResponse(theirs, &http.Request{Method: method})
		if err != nil {
			if strings.Contains(err.Error(), "bad trailer key") {
				return // ours ignores announcements that mean nothing
			}
			t.Fatalf("only ours reads this: %v", err)
		}
		want, wantErr := io.ReadAll(resp.Body)
		if bodyErr == nil && (wantErr != nil || !bytes.Equal(body, want)) {
			t.Fatalf("body %q, want %q, %v", body, want, wantErr)
		}
		if resp.StatusCode != got.status || resp.ContentLength != length && framing != noFraming {
			t.Fatalf("status %d, length %d; want %d, %d", got.status, length, resp.StatusCode, resp.ContentLength)
		}
		// net/http takes some fields out, once it has understood them.
		for _, name := range []string{"Transfer-Encoding", "Trailer", "Content-Length", "Connection"} {
			delete(got.header, name)
			delete(resp.Header, name)
		}
		if diff := cmp.Diff(resp.Header, got.header, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("header (-want +got):\n%s", diff)
		}
		if bodyErr == nil && framing != untilClose {
			rest, _ := io.ReadAll(ours)
			if wantRest, _ := io.ReadAll(theirs); !bytes.Equal(rest, wantRest) {
				t.Fatalf("%q is left, want %q", rest, wantRest)
			}
		}
	})
}
