package line_test

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
)

// TestDrive has people let in by rate, and ended tickets swept, with nobody
// calling but Drive.
func TestDrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		l := memory.New(memory.Options{Start: time.Now(), Settings: line.Settings{
			Policy:  line.Policy{Inflow: 1, Interval: time.Second},
			TTL:     time.Minute,
			Sweep:   10 * time.Second,
			DoorMax: 10, DoorWait: 5 * time.Second,
		}})
		done := make(chan struct{})
		go func() {
			line.Drive(ctx, l)
			close(done)
		}()
		synctest.Wait()
		begin := time.Now()
		enter := func(hold bool) line.Decision {
			e := line.Entry{Client: netip.MustParsePrefix("192.0.2.1/32"), MayHold: hold}
			d, err := l.Enter(ctx, time.Now(), e)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		enter(true)
		doors := []line.Decision{enter(true), enter(true), enter(true)}
		enter(false) // and is never seen again
		for k, d := range doors {
			<-d.Door.Done()
			if got, want := time.Since(begin), time.Duration(k+1)*time.Second; got != want {
				t.Errorf("the %d. was let in after %v, want %v", k+1, got, want)
			}
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := l.Stats(time.Now()).EvictedTotal; got != 1 {
			t.Errorf("%d tickets swept, want 1", got)
		}
		stop()
		<-done
	})
}

// unreachable is a line whose Advance fails.
type unreachable struct {
	line.Line
	calls atomic.Int32
}

func (u *unreachable) Advance(context.Context, time.Time) (time.Time, error) {
	u.calls.Add(1)
	return time.Time{}, errors.New("unreachable")
}

func (*unreachable) Wake() <-chan struct{} { return nil }

func TestDriveTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer stop()
		u := new(unreachable)
		line.Drive(ctx, u)
		if got := u.calls.Load(); got != 4 {
			t.Errorf("%d calls in 3.5 s, want 4", got)
		}
	})
}
