package skip

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func TestPromote(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(5)
	a := r.promote(fmt.Sprintf(`{"ref":%q,"payment":"pay_1"}`, r.ref(q[3])))
	if a.status != 200 || !a.Promoted || a.Position != 1 || a.Repeated || a.PassUntil == "" || a.Payment != "pay_1" || a.ID != fmt.Sprint(q[3].Number) {
		t.Errorf("by reference: %+v", a)
	}
	a = r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_2"}`, q[4].Number))
	if a.status != 200 || a.Position != 2 {
		t.Errorf("by number, behind whoever paid before: %+v", a)
	}
	a = r.promote(fmt.Sprintf(`{"id":"%d","position":3}`, q[2].Number))
	if a.status != 200 || a.Position != 3 || a.PassUntil != "" {
		t.Errorf("to a position, without a payment: %+v", a)
	}
	r.wantOrder(q[3], q[4], q[2], q[0], q[1])
	a = r.promote(fmt.Sprintf(`{"id":%d,"position":4}`, q[3].Number))
	if a.status != 200 || a.Position != 1 {
		t.Errorf("backwards: %+v", a)
	}
	r.wantOrder(q[3], q[4], q[2], q[0], q[1])
}

// A payment is carried out once, however often it is told of.
func TestPaymentsAreCarriedOutOnce(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(5)
	body := fmt.Sprintf(`{"ref":%q,"payment":"pay_1"}`, r.ref(q[4]))
	var all sync.WaitGroup
	var mu sync.Mutex // guards first and repeated
	first, repeated := 0, 0
	for range 20 {
		all.Go(func() {
			a := r.promote(body)
			mu.Lock()
			defer mu.Unlock()
			if a.status != 200 || a.Position != 1 {
				t.Errorf("%+v", a)
			}
			if a.Repeated {
				repeated++
			} else {
				first++
			}
		})
	}
	all.Wait()
	if first != 1 || repeated != 19 || r.line.Stats(time.Now()).PromotedTotal != 1 {
		t.Errorf("%d carried out, %d repeated", first, repeated)
	}
	r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_2","position":1}`, q[0].Number))
	if a := r.promote(body); !a.Repeated || a.Position != 1 {
		t.Errorf("repeated later: %+v", a)
	}
	r.wantOrder(q[0], q[4], q[1], q[2], q[3])
	if a := r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[2].Number)); a.status != 409 {
		t.Errorf("for another ticket: %+v", a)
	}
	// The webhook of a payment may come again once its owner is in.
	r.line.Release(time.Now(), r.slot)
	if d, err := r.line.Enter(t.Context(), time.Now(), line.Entry{Ticket: q[0]}); err != nil || d.Verdict != line.Admitted {
		t.Fatalf("%+v, %v", d, err)
	}
	if a := r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_2"}`, q[0].Number)); a.status != 200 || !a.Repeated {
		t.Errorf("repeated after the admission: %+v", a)
	}
}

// Two promotions never share a place, whoever else is promoted.
func TestPromotionsAtOnce(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(50)
	positions := make([]int, len(q))
	var all sync.WaitGroup
	for k, ticket := range q {
		all.Go(func() {
			positions[k] = r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_%d"}`, ticket.Number, k)).Position
		})
	}
	all.Wait()
	seen := map[int]bool{}
	for _, p := range positions {
		if p < 1 || p > len(q) || seen[p] {
			t.Fatalf("positions %v", positions)
		}
		seen[p] = true
	}
}

func TestWhatCannotBePromoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		q := r.queue(4)
		f := func(name, body string, want int) {
			t.Helper()
			if a := r.promote(body); a.status != want {
				t.Errorf("%s: %+v, want status %d", name, a, want)
			}
		}
		byRef := func(k line.Ticket) string { return fmt.Sprintf(`{"ref":%q}`, r.ref(k)) }
		byID := func(k line.Ticket) string { return fmt.Sprintf(`{"id":%d}`, k.Number) }
		r.line.Release(time.Now(), r.slot)
		if d, err := r.line.Enter(t.Context(), time.Now(), line.Entry{Ticket: q[0]}); err != nil || d.Verdict != line.Admitted {
			t.Fatalf("%+v, %v", d, err)
		}
		if err := r.line.Quit(t.Context(), time.Now(), q[1]); err != nil {
			t.Fatal(err)
		}
		if err := r.line.Remove(t.Context(), time.Now(), q[2]); err != nil {
			t.Fatal(err)
		}
		r.pass(6 * time.Minute) // q[3] stays away
		for name, body := range map[string]func(line.Ticket) string{"by reference": byRef, "by number": byID} {
			f("admitted "+name, body(q[0]), 409)
			f("left "+name, body(q[1]), 410)
			f("removed "+name, body(q[2]), 410)
			f("expired "+name, body(q[3]), 410)
		}
		f("never issued", `{"id":12345}`, 404)
		f("never issued, signed", byRef(line.Ticket{Number: 12345, Issued: time.Now()}), 410)
		good := r.ref(q[3])
		f("altered reference", fmt.Sprintf(`{"ref":%q}`, good[:20]+"-"+good[21:]), 404)
		f("reference of another purpose", fmt.Sprintf(`{"ref":%q}`, testKeys(t, PassPurpose).AppendToken(nil, q[3].AppendBytes(nil))), 404)
		for _, body := range []string{
			``, `x`, `[]`, `{}`, `{"ref":""}`, `{"ref":1}`, `{"id":-1}`, `{"id":1.5}`, `{"id":"x"}`, `{"id":1,"ref":"x"}`, `{"id":1,"place":2}`,
			`{"id":1,"position":0}`, `{"id":1,"position":-1}`, `{"id":1,"position":1.5}`, `{"id":1} {}`, `{"id":99999999999999999999999}`,
			`{"id":1,"payment":"` + strings.Repeat("x", maxPayment+1) + `"}`,
		} {
			f(body, body, 400)
		}
		if st := r.stage.Stats(); st.Promoted != 0 || st.Refused == 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	var m recent[int, int]
	for k := range MaxSales + 3 {
		m.put(k, k)
		m.put(k, -k)
	}
	if _, known := m.get(2); known || len(m.entries) != MaxSales {
		t.Errorf("%d entries; the third is known: %v", len(m.entries), known)
	}
	if v, known := m.get(3); !known || v != -3 {
		t.Errorf("the fourth is %d, %v", v, known)
	}
	m.dropOldest(func(v int) bool { return v > -10 })
	if _, known := m.get(9); known || len(m.entries) != MaxSales-7 {
		t.Errorf("%d entries; the tenth is known: %v", len(m.entries), known)
	}
}

func TestBadSettingsAreNamedAndChangeNothing(t *testing.T) {
	r := newRig(t, nil)
	good := r.stage.settings.Load()
	for want, change := range map[string]func(*Config){
		"no line":    func(c *Config) { c.Line = nil },
		"references": func(c *Config) { c.Refs = nil },
		"for passes": func(c *Config) { c.Passes = nil },
		"tickets":    func(c *Config) { c.Ticket = nil },
		"NaN":        func(c *Config) { c.Rate = math.NaN() },
		"-1":         func(c *Config) { c.Surge = -1 },
		"last 25h":   func(c *Config) { c.PassTTL = 25 * time.Hour },
		"last 1.5s":  func(c *Config) { c.PassTTL = 1500 * time.Millisecond },
		"cookie":     func(c *Config) { c.CookiePath = "/;\n" },
	} {
		c := good.Config
		change(&c)
		if err := r.stage.Apply(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want it to say %q", err, want)
		}
		if _, err := New(c); err == nil {
			t.Errorf("New accepts: %s", want)
		}
	}
	if r.stage.settings.Load() != good {
		t.Error("a bad change was applied")
	}
}

// Whatever is sent, it is answered in JSON and promotes nobody.
func FuzzReadOrder(f *testing.F) {
	for _, seed := range []string{`{"id":1}`, `{"ref":"x","payment":"p"}`, `{"id":"18446744073709551615","position":1}`, `{"id":1}{"id":2}`} {
		f.Add(seed)
	}
	c, err := newSettings(testConfig(f, struct{ line.Line }{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		ticket, o, err := c.readOrder(strings.NewReader(body))
		if err == nil && (o.ID == nil || ticket.Number != uint64(*o.ID) || len(o.Payment) > maxPayment || o.Position != nil && *o.Position < 1) {
			t.Errorf("%q is taken for %+v about ticket %d", body, o, ticket.Number)
		}
	})
}

func BenchmarkEnter(b *testing.B) {
	c := testConfig(b, struct{ line.Line }{})
	s, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	v := visitOf("a=1; b=2; room_ticket=x")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Enter(v)
	}
}
