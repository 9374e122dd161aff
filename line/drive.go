package line

import (
	"context"
	"time"
)

// retryAdvance is the pause after Advance could not reach the line.
const retryAdvance = time.Second

// Drive calls l.Advance whenever it asks to be called, with the time of day,
// until ctx ends. A line needs one Drive to run; it blocks, so give it a
// goroutine. An error of Advance is met by another try a second later: what
// the line then does about it is its own affair.
func Drive(ctx context.Context, l Line) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.Wake():
		}
		now := time.Now()
		next, err := l.Advance(ctx, now)
		switch {
		case err != nil:
			timer.Reset(retryAdvance)
		case next.IsZero():
			timer.Stop()
		default:
			timer.Reset(next.Sub(now))
		}
	}
}
