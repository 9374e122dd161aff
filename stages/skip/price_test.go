package skip

import (
	"errors"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(4) // each place costs 0.5 + 4 × 0.25
	a := r.quote("?ref=" + r.ref(q[3]))
	if a.status != 200 || a.Position != 4 || a.Target != 1 || a.Places != 3 || a.Depth != 4 || a.Rate != 1.5 || a.Cost != 4.5 || a.HasPass {
		t.Errorf("to the front: %+v", a)
	}
	if a := r.quote("?position=3&ref=" + r.ref(q[3])); a.Target != 3 || a.Places != 1 || a.Cost != 1.5 {
		t.Errorf("to position 3: %+v", a)
	}
	if a := r.quote("?position=3&ref=" + r.ref(q[0])); a.Target != 1 || a.Places != 0 || a.Cost != 0 {
		t.Errorf("backwards: %+v", a)
	}
	if a := r.quote("", ticketCookie+"=nonsense; "+held(q[1])); a.Position != 2 || a.Cost != 1.5 {
		t.Errorf("by cookie: %+v", a)
	}
	for query, want := range map[string]int{
		"": 404, "?ref=x": 404, "?position=0&ref=" + r.ref(q[0]): 400, "?position=x": 400, "?a=%zz": 400,
	} {
		if a := r.quote(query); a.status != want {
			t.Errorf("%q: %+v, want status %d", query, a, want)
		}
	}
	if got := r.visit("/_room/quote?ref=" + r.ref(q[0])).Body.String(); !strings.Contains(got, `"skip_cost":0,`) {
		t.Errorf("a price of zero is left out: %s", got)
	}
	c := r.stage.settings.Load().Config
	c.Rate, c.Surge = 0, 0
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	if a := r.quote("?ref=" + r.ref(q[3])); a.status != 404 {
		t.Errorf("with nothing for sale: %+v", a)
	}
}

func TestPrice(t *testing.T) {
	r := newRig(t, nil)
	if each, total := r.stage.Price(3, 10); each != 3 || total != 9 {
		t.Errorf("with ten in line three places cost %v, %v each", total, each)
	}
	if each, total := r.stage.Price(-1, -1); each != 0.5 || total != 0 {
		t.Errorf("with nobody in line: %v, %v each", total, each)
	}
}

var errLost = errors.New("the line is out of reach")

func TestCost(t *testing.T) {
	for _, c := range []struct {
		places int
		price  float64
		want   float64
	}{{0, 5, 0}, {-3, 5, 0}, {3, 0.1, 0.3}, {7, 1.01, 7.07}, {1, 1e6, 1e6}} {
		if got := cost(c.places, c.price); got != c.want {
			t.Errorf("%d places at %v cost %v, want %v", c.places, c.price, got, c.want)
		}
	}
}
