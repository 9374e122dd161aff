package skip

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
)

// moody is a line whose tickets are gone by the time they are promoted, or that
// cannot be reached at all.
type moody struct {
	*memory.Line
	lost bool
}

func (m moody) Look(ctx context.Context, now time.Time, t line.Ticket) (line.Status, error) {
	if m.lost {
		return line.Status{}, errLost
	}
	return m.Line.Look(ctx, now, t)
}

func (m moody) Promote(ctx context.Context, now time.Time, t line.Ticket, position int) error {
	if err := m.Quit(ctx, now, t); err != nil {
		return err
	}
	return m.Line.Promote(ctx, now, t, position)
}

func TestMoodyLines(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(2)
	use := func(l moody) {
		t.Helper()
		c := r.stage.settings.Load().Config
		c.Line = l
		if err := r.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	body := fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[1].Number)
	use(moody{r.line, true})
	if a := r.promote(body); a.status != 503 {
		t.Errorf("out of reach: %+v", a)
	}
	use(moody{r.line, false})
	if a := r.promote(body); a.status != 410 {
		t.Errorf("left that very moment: %+v", a)
	}
	if a := r.promote(body); a.Repeated {
		t.Errorf("a promotion that failed counts as carried out: %+v", a)
	}
}
