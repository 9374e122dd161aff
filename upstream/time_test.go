package upstream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

const (
	getRequest = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	moment     = time.Second // of the bubble's clock
)

// took says how long f lasts on the bubble's clock.
func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// reads everything, and answers as soon as it has.
func readAndAnswer(x *rawtest.Exchange) {
	if _, err := x.ReadBody(); err != nil {
		x.Close()
		return
	}
	x.Write(okReply)
}

func TestOriginThatIsSilent(t *testing.T) {
	for name, first := range map[string]string{"nothing": "", "half a header": "HTTP/1.1 200 OK\r\nX-A"} {
		synctest.Test(t, func(t *testing.T) {
			s, c := newMemorySite(t, func(x *rawtest.Exchange) { x.Write(first); x.AwaitEnd(); x.Close() },
				func(c *Config) { c.HeaderTimeout = 3 * moment })
			c.Send(getRequest)
			waited := took(func() {
				if got := c.ReadResponse("GET"); got.Status() != "504" {
					t.Errorf("%s: got %q", name, got.Line)
				}
			})
			if waited != 3*moment || s.outcomes(1)[0].Reason != pipeline.OriginTimeout {
				t.Errorf("%s: after %v, observed %+v", name, waited, s.outcomes(1)[0])
			}
		})
	}
}

// TestUploadTimeIsNotTheOrigins: the origin's clock starts when it has the
// request, however long the visitor takes.
func TestUploadTimeIsNotTheOrigins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newMemorySite(t, func(x *rawtest.Exchange) {
			_, _ = x.ReadBody()
			time.Sleep(2 * moment)
			x.Write(okReply)
		}, func(c *Config) { c.HeaderTimeout = 3 * moment })
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")
		for range 2 {
			time.Sleep(5 * moment)
			c.Send("x")
		}
		if got := c.ReadResponse("POST"); got.Status() != "200" {
			t.Errorf("got %q", got.Line)
		}
	})
}

func TestOriginThatStallsInItsBody(t *testing.T) {
	for name, head := range map[string]string{
		"length":  "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart",
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, c := newMemorySite(t, func(x *rawtest.Exchange) { x.Write(head); x.AwaitEnd(); x.Close() },
				func(c *Config) { c.IdleTimeout = 3 * moment })
			c.Send(getRequest)
			if got := c.ReadResponse("GET"); string(got.Body) != "part" || got.Err == nil {
				t.Errorf("%s: got %q, error %v", name, got.Body, got.Err)
			}
			if got := s.outcomes(1)[0]; got.Reason != pipeline.OriginTimeout {
				t.Errorf("%s: observed %+v", name, got)
			}
		})
	}
}

// TestSlowStreamsSurvive: every timeout is about silence, none about length.
func TestSlowStreamsSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newMemorySite(t, func(x *rawtest.Exchange) {
			x.Write("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n")
			for range 90 {
				time.Sleep(moment)
				x.Write("x")
			}
		}, func(c *Config) { c.HeaderTimeout, c.IdleTimeout, c.WriteTimeout = 2*moment, 2*moment, 2*moment })
		c.Send(getRequest)
		c.ReadHead()
		for range 90 {
			if late := took(func() { c.ReadFull(1) }); late > moment+flushAfter {
				t.Fatalf("a byte took %v", late)
			}
		}
	})
}

// TestDripperIsCutOff: a byte now and then is not progress, however regular.
func TestDripperIsCutOff(t *testing.T) {
	for name, framing := range map[string][2]string{
		"length":  {"Content-Length: 1000000", "x"},
		"chunked": {"Transfer-Encoding: chunked", "1\r\nx\r\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, c := newMemorySite(t, readAndAnswer, func(c *Config) { c.BodyTimeout = 10 * moment })
			c.Send("POST / HTTP/1.1\r\nHost: x\r\n" + framing[0] + "\r\n\r\n")
			done := make(chan struct{})
			go func() {
				defer close(done)
				for c.TrySend(framing[1]) == nil {
					time.Sleep(moment)
				}
			}()
			waited := took(func() {
				if got := c.ReadResponse("POST"); got.Status() != "408" || got.Value("Connection") != "close" {
					t.Errorf("%s: got %q, Connection %q", name, got.Line, got.Value("Connection"))
				}
			})
			if got := s.outcomes(1)[0]; got.Reason != pipeline.BodyStalled || waited > 11*moment {
				t.Errorf("%s: after %v observed %+v", name, waited, got)
			}
			c.Close()
			<-done
		})
	}
}

func TestSteadySenderIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newMemorySite(t, readAndAnswer, func(c *Config) { c.BodyTimeout = 2 * moment })
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 16384\r\n\r\n")
		for range 16 {
			time.Sleep(moment)
			c.Send(strings.Repeat("x", 1024))
		}
		if got := c.ReadResponse("POST"); got.Status() != "200" {
			t.Errorf("got %q", got.Line)
		}
		time.Sleep(5 * moment) // the deadline must not have outlived the body
		c.Send(getRequest)
		if got := c.ReadResponse("GET"); got.Status() != "200" {
			t.Errorf("next request on the connection got %q", got.Line)
		}
	})
}

// TestSlowOriginIsNotTheSendersFault: while the origin takes nothing, the
// visitor's clock stands still.
func TestSlowOriginIsNotTheSendersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newMemorySite(t, func(x *rawtest.Exchange) {
			time.Sleep(10 * moment)
			readAndAnswer(x)
		}, func(c *Config) { c.BodyTimeout = 2 * moment })
		const size = 1 << 20
		c.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n")
		c.Send(strings.Repeat("x", size))
		if got := c.ReadResponse("POST"); got.Status() != "200" {
			t.Errorf("got %q", got.Line)
		}
	})
}

// TestVisitorWhoDoesNotRead must not hold what it holds for ever.
func TestVisitorWhoDoesNotRead(t *testing.T) {
	for name, response := range map[string]string{
		"small": okReply,
		"large": "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20),
	} {
		synctest.Test(t, func(t *testing.T) {
			s, c := newMemorySite(t, rawtest.Reply(response), func(c *Config) { c.WriteTimeout = 3 * moment })
			c.Send(getRequest)
			waited := took(func() {
				if got := s.outcomes(1)[0]; got.Reason != pipeline.ClientGone {
					t.Errorf("%s: observed %+v", name, got)
				}
			})
			if waited > 4*moment {
				t.Errorf("%s: given up after %v", name, waited)
			}
		})
	}
}

func TestWriteDeadlineDoesNotOutliveItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := newMemorySite(t, rawtest.Reply(okReply), func(c *Config) { c.WriteTimeout = 3 * moment })
		for range 2 {
			c.Send(getRequest)
			if got := c.ReadResponse("GET"); got.Status() != "200" {
				t.Fatalf("got %q", got.Line)
			}
			time.Sleep(5 * moment)
			c.Send("CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n") // answered by others than the proxy
			if got := c.ReadResponse("CONNECT"); got.Status() != "405" {
				t.Fatalf("got %q", got.Line)
			}
		}
	})
}
