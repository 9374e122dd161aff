package assets

import (
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// ended passes on how visits ended.
type ended chan pipeline.Reason

// Observe implements pipeline.Observer.
func (e ended) Observe(v *pipeline.Visit) { e <- v.Reason }

// On a real connection it is net/http that has to notice the hang-up.
func TestHangingUpOnAConnection(t *testing.T) {
	c := small
	c.UserH1, c.UserWait = 1, time.Hour
	over := make(ended, 2)
	b := newBed(t, c, over)
	b.arrived = make(chan struct{}, 2)
	srv := httptest.NewServer(b.p)
	defer srv.Close()
	defer close(b.free) // the one at the origin goes on, so that the server can close

	const request = "GET /css/a.css HTTP/1.1\r\nHost: a.test\r\nUser: a\r\n\r\n"
	first := dial(t, srv, request)
	defer first.Close()
	<-b.arrived
	dial(t, srv, request).Close()
	if got := <-over; got != pipeline.ClientGone {
		t.Errorf("the visit ends as %v, want %v", got.Code(), pipeline.ClientGone.Code())
	}
	if n := b.strikes.Load(); n != 0 {
		t.Errorf("%d strikes, want none", n)
	}
}

func dial(t *testing.T, srv *httptest.Server, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}
