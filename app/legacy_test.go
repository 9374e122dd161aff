package app

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
)

// FuzzLegacy: whatever a predecessor leaves, it is refused or taken up.
func FuzzLegacy(f *testing.F) {
	loaded, err := config.Load(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	a, err := New(loaded.Config, Options{})
	if err != nil {
		f.Fatal(err)
	}
	good, err := a.leave(time.Now())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"grants":[{"pass":"00","rank":"x"}],"sales":[{"ticket":"1"}]}` + "\n"))
	f.Fuzz(func(t *testing.T, state []byte) {
		l, err := readLegacy(state)
		if err != nil || l == nil {
			return
		}
		for _, g := range l.Grants {
			if m, err := g.mark(); err == nil && m.Rank.String() != g.Rank {
				t.Errorf("%+v is taken for %+v", g, m)
			}
		}
	})
}

// Records that mean nothing are told of as damaged lines.
func TestOddRecordsAreRefused(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"pass":"zz","rank":"staff"}`, `{"pass":"00112233445566778899aabbccddeeff","rank":"king"}`, `{"pass":"0011","rank":"staff"}`,
	} {
		if err := readAs(func(g savedGrant) error { _, err := g.mark(); return err })([]byte(text)); err == nil {
			t.Errorf("%s is taken for a grant", text)
		}
	}
	for _, text := range []string{`{}`, `{"payment":"a"}`, `{"ticket":"5"}`, `{"payment":"a","ticket":5}`} {
		if err := readAs(func(s savedSale) error { _, err := s.sale(); return err })([]byte(text)); err == nil {
			t.Errorf("%s is taken for a sale", text)
		}
	}
}
