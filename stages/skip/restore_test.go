package skip

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// TestPaymentsAreRemembered in a stage that takes up what another one sold.
func TestPaymentsAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Sale
		r := newRig(t, func(c *Config) { c.Sold = func(s Sale) { told = append(told, s) } })
		q := r.queue(5)
		body := fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[4].Number)
		first := r.promote(body)
		r.promote(fmt.Sprintf(`{"id":%d}`, q[3].Number)) // without a payment
		if sales := r.stage.Sales(); len(told) != 2 || told[1].Payment != "" || len(sales) != 1 || told[0] != sales[0] {
			t.Errorf("told %+v, remembered %+v", told, sales)
		}
		again, err := New(r.stage.settings.Load().Config)
		if err != nil {
			t.Fatal(err)
		}
		again.Restore(told[:1], time.Now())
		*r.stage = Stage{}
		r.stage.settings.Store(again.settings.Load())
		r.stage.Restore(again.Sales(), time.Now())
		promoted := r.line.Stats(time.Now()).PromotedTotal
		a := r.promote(body)
		if !a.Repeated || a.Position != first.Position || a.PassUntil != first.PassUntil {
			t.Errorf("the same payment: %+v, first %+v", a, first)
		}
		if got := r.line.Stats(time.Now()).PromotedTotal; got != promoted {
			t.Errorf("%d promotions, want %d", got, promoted)
		}
		if a := r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[2].Number)); a.status != 409 {
			t.Errorf("for another ticket: %+v", a)
		}
		if pass(r.visit("/queue/status", held(q[4]))) == "" {
			t.Error("the pass is not owed any more")
		}
	})
}

// TestPausedRoomsSay so to whoever sells places in them, and promote all the
// same.
func TestPausedRoomsSay(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(3)
	set := r.line.Stats(time.Now()).Settings
	for mode, want := range map[line.Mode]string{line.Open: "", line.Paused: "paused", line.Closed: "closed"} {
		set.Mode = mode
		if err := r.line.Configure(t.Context(), time.Now(), set); err != nil {
			t.Fatal(err)
		}
		if a := r.quote("?ref=" + r.ref(q[2])); a.status != 200 || a.Room != want {
			t.Errorf("%q: quoted %+v", want, a)
		}
		if a := r.promote(fmt.Sprintf(`{"id":%d}`, q[2].Number)); a.status != 200 || a.Room != want || a.Position != 1 {
			t.Errorf("%q: promoted %+v", want, a)
		}
	}
}
