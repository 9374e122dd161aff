package priority

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// withDoor has the line hold requests at its door.
func (r *rig) withDoor(wait time.Duration) {
	s := r.line.Stats(time.Now()).Settings
	s.DoorMax, s.DoorWait = 10, wait
	_ = r.line.Configure(context.Background(), time.Now(), s)
}

// fillBoth takes the page slot and the lane's, and returns what frees them.
func (r *rig) fillBoth() (freePage, freeLane func()) {
	return r.hold("/hold"), r.hold("/hold2", pass("p"), r.grant("p", pipeline.Staff, 0, time.Hour))
}

// Who waits stands at the line's door as well, and takes the slot that comes
// first.
func TestWaitsAtTheDoorAsWell(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		r.withDoor(10 * time.Second)
		freePage, freeLane := r.fillBoth()
		a := r.send("POST", "/a", pass("q"))
		if n := r.line.Stats(time.Now()).AtDoor; n != 1 {
			t.Fatalf("%d at the door, want 1", n)
		}
		time.Sleep(time.Second)
		freePage()
		r.wantStatus("with a page slot free", a.over(), 200)
		if a.took != time.Second || r.stage.Stats().Served != 1 { // the lane's own holder
			t.Errorf("served after %v, %d in the lane", a.took, r.stage.Stats().Served)
		}
		freeLane()
	})
}

// With the lane out of reach the door is waited at alone.
func TestWaitsAtTheDoorAlone(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		r.withDoor(10 * time.Second)
		freePage, freeLane := r.fillBoth()
		a, b := r.send("POST", "/1", pass("q")), r.send("POST", "/2", pass("q"))
		c := r.send("POST", "/3", pass("q")) // more than one pass may have in the lane
		if st := r.stage.Stats(); st.LaneWaiting != 2 {
			t.Fatalf("%+v", st)
		}
		freeLane()
		r.wantStatus("first", a.over(), 200)
		r.wantStatus("second", b.over(), 200)
		r.wantStatus("third", c.over(), 0)
		freePage()
		r.wantStatus("third, with a page slot free", c.over(), 200)
	})
}

// A client that leaves as the door's slot is granted leaves the slot behind.
func TestLeavingAsTheDoorOpens(t *testing.T) {
	for range 20 { // either may be seen first
		bubble(t, 1, nil, func(r *rig) {
			r.withDoor(10 * time.Second)
			freePage, freeLane := r.fillBoth()
			ctx, leave := context.WithCancel(context.Background())
			a := r.send("POST", "/gone", pass("q"), until(ctx))
			leave()
			freePage()
			freeLane()
			a.over()
			if strings.Contains(r.origin(), "/gone") {
				t.Errorf("the origin got %s", r.origin())
			}
		})
	}
}

// body replaces a request's body.
func body(r io.Reader) option {
	return func(req *http.Request) { req.Body, req.ContentLength = io.NopCloser(r), 4 }
}

// Before it waits a request's body is read, and what does not come is answered
// for.
func TestBodiesThatDoNotCome(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		freePage, freeLane := r.fillBoth()
		stalls := body(io.MultiReader(strings.NewReader("bo"), iotest.ErrReader(os.ErrDeadlineExceeded)))
		breaks := body(io.MultiReader(strings.NewReader("bo"), iotest.ErrReader(io.ErrUnexpectedEOF)))
		staff := r.grant("q", pipeline.Staff, 0, time.Hour)
		r.wantStatus("a form that stalls", r.send("POST", "/a", pass("q"), stalls).over(), 503)
		r.wantStatus("a page whose body stalls", r.send("GET", "/a", pass("q"), staff, stalls).over(), 400)
		r.send("POST", "/a", pass("q"), breaks).over()
		if st := r.stage.Stats(); st.Gone != 1 || st.FormsRefused != 1 || strings.Contains(r.origin(), "/a") {
			t.Errorf("%+v; the origin got %s", st, r.origin())
		}
		freePage()
		freeLane()
	})
}

// lost is a line that cannot be reached.
type lost struct{ line.Line }

func (lost) Enter(context.Context, time.Time, line.Entry) (line.Decision, error) {
	return line.Decision{}, errors.New("the line is out of reach")
}

func TestLineOutOfReach(t *testing.T) {
	bubble(t, 1, nil, func(r *rig) {
		c := r.stage.settings.Load().Config
		c.Line = lost{c.Line}
		if err := r.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
		r.wantStatus("a form", r.call("POST", "/a", pass("p")).Code, 500)
		ctx, leave := context.WithCancel(context.Background())
		leave()
		r.call("POST", "/a", pass("p"), until(ctx))
		synctest.Wait()
		if r.origin() != "" {
			t.Errorf("the origin got %s", r.origin())
		}
	})
}
