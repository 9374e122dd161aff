//go:build !race

package bench

import (
	"fmt"
	"net"
	"net/http/httptest"
	"runtime/metrics"
	"strconv"
	"sync"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

// maxStack is the most that two goroutines may take of a request that stands at
// the door: net/http's and the one in which it looks out for the visitor's
// leaving. Stacks double, so the next size would be 18 KiB.
const maxStack = 12 << 10

// engaged is an origin that answers nobody before it is released, and says when
// it was asked.
type engaged struct{ asked, released chan struct{} }

func (e engaged) Serve(v *pipeline.Visit) error {
	e.asked <- struct{}{}
	<-e.released
	return instant{}.Serve(v)
}

// TestStackAtTheDoor: a crowd at the door is memory, and first of all stacks.
// What is put on one between net/http and the door can double it.
func TestStackAtTheDoor(t *testing.T) {
	const slots, crowd = 100, 300
	e := engaged{make(chan struct{}), make(chan struct{})}
	a := newApp(t, e, "-cap", strconv.Itoa(slots))
	srv := httptest.NewServer(a.Handler())
	defer srv.Close()
	var release sync.Once
	free := func() { release.Do(func() { close(e.released) }) }
	defer free()

	arrive := func(first, n int) {
		for i := first; i < first+n; i++ {
			c, err := net.Dial("tcp", srv.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			_, err = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nX-Forwarded-For: 10.0.%d.%d\r\n\r\n", i/250, i%250)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	arrive(0, slots)
	for range slots {
		<-e.asked
	}
	before := stacks()
	arrive(slots, crowd)
	rawtest.Until(t, "the crowd to stand at the door", func() bool { return a.Stats().AtDoor == crowd })
	if each := (stacks() - before) / crowd; each > maxStack {
		t.Errorf("%d bytes of stack for each request at the door, want at most %d", each, maxStack)
	}
	go func() { // ends with the crowd
		for range crowd {
			<-e.asked
		}
	}()
	free()
}

// stacks is how much memory goroutines' stacks take.
func stacks() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
