package persist

import (
	"context"
	"time"
)

// retryFirst and retryMost bound the pause after a write that failed: it
// doubles each time.
const retryFirst, retryMost = time.Second, 30 * time.Second

// writeBehind writes what others add until ctx ends, and once more then: batch
// after wake received, and at growing pauses while writing fails. failed is the
// outcome of a write before. The error is that of the last write.
func writeBehind(ctx context.Context, wake <-chan struct{}, batch time.Duration, failed error, write, last func() error) error {
	retry := retryFirst
	for {
		pause := batch
		if failed != nil {
			pause = retry
			retry = min(2*retry, retryMost)
		} else {
			retry = retryFirst
			select {
			case <-ctx.Done():
				return last()
			case <-wake:
			}
		}
		select {
		case <-ctx.Done():
			return last()
		case <-time.After(pause):
		}
		failed = write()
	}
}
