package rawtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOriginLogsExactBytes(t *testing.T) {
	o := NewOrigin(t, Reply("HTTP/1.1 200 Fine\r\nX-a:  1\r\nTransfer-Encoding: chunked\r\n\r\n2;e\r\nok\r\n0\r\nT: 1\r\n\r\n"))
	c := Dial(t, o.Addr())
	c.Send("POST //a|b?%zz HTTP/1.1\r\nhOst:x\r\nB:  2 \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n")
	got := c.ReadResponse("POST")
	want := Response{
		Head:    Head{Line: "HTTP/1.1 200 Fine", Fields: []string{"X-a:  1", "Transfer-Encoding: chunked"}},
		Body:    []byte("ok"),
		RawBody: []byte("2;e\r\nok\r\n0\r\nT: 1\r\n\r\n"), Trailers: []string{"T: 1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	wantRequest := Request{
		Head: Head{Line: "POST //a|b?%zz HTTP/1.1", Fields: []string{"hOst:x", "B:  2 ", "Transfer-Encoding: chunked"}},
		Conn: 1, Body: []byte("abc"), RawBody: []byte("3\r\nabc\r\n0\r\nX: y\r\n\r\n"), Trailers: []string{"X: y"},
	}
	if diff := cmp.Diff([]Request{wantRequest}, o.Requests()); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestOriginCountsConnections(t *testing.T) {
	release := make(chan struct{})
	o := NewOrigin(t, func(x *Exchange) {
		<-release
		x.Write("HTTP/1.1 204 No Content\r\n\r\n")
		x.Close()
	})
	a, b := Dial(t, o.Addr()), DialFrom(t, "127.0.0.2", o.Addr())
	a.Send("GET / HTTP/1.1\r\n\r\n")
	b.Send("GET / HTTP/1.1\r\n\r\n")
	Until(t, "both requests inside", func() bool { return o.Peak() == 2 })
	if o.Open() != 2 || o.Accepted() != 2 {
		t.Errorf("open %d, accepted %d; want 2 and 2", o.Open(), o.Accepted())
	}
	close(release)
	a.Ended()
	b.Ended()
	Until(t, "both connections closed", func() bool { return o.Open() == 0 })
}

func TestCutBodyIsAnError(t *testing.T) {
	o := NewOrigin(t, func(x *Exchange) {
		x.Write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
		x.Close()
	})
	c := Dial(t, o.Addr())
	c.Send("GET / HTTP/1.1\r\n\r\n")
	if got := c.ReadResponse("GET"); got.Err == nil || string(got.Body) != "half" {
		t.Errorf("body %q, error %v; want the half and an error", got.Body, got.Err)
	}
}
