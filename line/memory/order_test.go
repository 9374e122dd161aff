package memory

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// shelf is an order without a line, beside a plain slice of the same tickets.
type shelf struct {
	t     *testing.T
	slab  slab
	order order
	plain []int32
	class map[int32]class
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{t: t, class: make(map[int32]class)}
	s.order.slab = &s.slab
	return s
}

func (s *shelf) make(number uint64, k class, flags uint8) int32 {
	i := s.slab.alloc()
	tk := s.slab.at(i)
	tk.number, tk.flags = number, flags
	if k == guest {
		tk.flags |= flagGuest
	}
	s.class[i] = k
	return i
}

func (s *shelf) check() {
	s.t.Helper()
	var ahead counts
	for n, i := range s.plain {
		at := s.order.find(i)
		if got := s.order.before(at); got != ahead || at.class() != s.class[i] {
			s.t.Fatalf("ticket %d: ahead %v class %d, want %v class %d", n, got, at.class(), ahead, s.class[i])
		}
		ahead[s.class[i]]++
	}
	if s.order.total != ahead {
		s.t.Fatalf("total %v, want %v", s.order.total, ahead)
	}
	if ahead.standing() > 0 {
		first := slices.IndexFunc(s.plain, func(i int32) bool { return s.class[i] == door || s.class[i] == guest })
		if got := s.order.firstStanding(); got != s.plain[first] {
			s.t.Fatalf("first at the door %d, want %d", got, s.plain[first])
		}
	}
}

// places are the tickets but the guests.
func (s *shelf) places() []int32 {
	return slices.DeleteFunc(slices.Clone(s.plain), func(i int32) bool { return s.class[i] == guest })
}

func TestOrder(t *testing.T) {
	s := newShelf(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	number := uint64(1000)
	for step := range 6000 {
		grow := step < 3000 || step > 5000
		switch x := rnd.IntN(10); {
		case x < 5 && grow || len(s.plain) == 0:
			number++
			i := s.make(number, class(rnd.IntN(7)), 0)
			s.order.push(i, s.class[i])
			s.plain = append(s.plain, i)
		case x < 6 && grow:
			i := s.make(0, class(rnd.IntN(6)), flagPromoted)
			pos := rnd.IntN(len(s.places())+1) + 1
			s.order.insert(s.order.gapAt(pos), i, s.class[i])
			at := len(s.plain)
			if all := s.places(); pos <= len(all) {
				at = slices.Index(s.plain, all[pos-1])
			}
			s.plain = slices.Insert(s.plain, at, i)
		case x < 8:
			i := s.plain[rnd.IntN(len(s.plain))]
			if s.class[i] != guest {
				s.class[i] = class(rnd.IntN(6))
				s.order.set(s.order.find(i), s.class[i])
			}
		default:
			at := rnd.IntN(len(s.plain))
			s.order.remove(s.plain[at])
			s.slab.release(s.plain[at])
			s.plain = slices.Delete(s.plain, at, at+1)
		}
		if step%100 == 0 {
			s.check()
		}
	}
	s.check()
}

func TestWalk(t *testing.T) {
	s := newShelf(t)
	for n := range 1500 {
		i := s.make(uint64(n+1), class(n%7), 0)
		s.order.push(i, s.class[i])
		s.plain = append(s.plain, i)
	}
	places := s.places()
	for _, first := range []int{0, 1, 255, 256, 300, len(places) - 1, len(places), len(places) + 5} {
		var got []int32
		s.order.walk(first, func(i int32, k class, ahead *counts) bool {
			if k != s.class[i] || ahead.live() != first+len(got) {
				t.Fatalf("walk(%d): class %d with %d ahead", first, k, ahead.live())
			}
			got = append(got, i)
			return len(got) < 300
		})
		if want := places[min(first, len(places)):min(first+300, len(places))]; !slices.Equal(got, want) {
			t.Fatalf("walk(%d) visits %d places, want %d", first, len(got), len(want))
		}
	}
}

func TestInsertByNumber(t *testing.T) {
	s := newShelf(t)
	rnd := rand.New(rand.NewPCG(2, 2))
	numbers := rnd.Perm(2000)
	for n, number := range numbers {
		flags := uint8(0)
		if n%50 == 0 {
			flags = flagPromoted
		}
		i := s.make(uint64(number+1), polled, flags)
		if flags != 0 {
			s.order.insert(s.order.gapAt(rnd.IntN(n+1)+1), i, polled)
		} else {
			s.order.insert(s.order.gapByKey(s.order.key(i)), i, polled)
		}
	}
	last := uint64(0)
	s.order.walk(0, func(i int32, _ class, _ *counts) bool {
		if !s.order.ordinary(i) {
			return true
		}
		if n := s.slab.at(i).number; n < last {
			t.Fatalf("ticket %d stands behind %d", n, last)
		} else {
			last = n
		}
		return true
	})
}

func TestPassAhead(t *testing.T) {
	s := newShelf(t)
	for n := range 1000 {
		i := s.make(uint64(n+1), class(n%6), 0)
		s.order.push(i, s.class[i])
		s.plain = append(s.plain, i)
	}
	want := 0
	for _, i := range s.plain[:605] {
		switch s.class[i] {
		case polled:
			s.class[i] = passed
			want++
		case called:
			s.class[i] = absent
			want++
		}
	}
	if got := s.order.passAhead(s.plain[605]); got != want {
		t.Errorf("%d passed, want %d", got, want)
	}
	s.check()
}
