package app

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/skip"
)

// marks are what the stages of priority and of sold places remember beyond the
// process: which grants of a rank are outdated, and which payments are carried
// out.
type marks struct {
	grants, sales *persist.Records
}

// savedGrant is a priority.Mark as it is written.
type savedGrant struct {
	Pass   string `json:"pass"` // its id, in hexadecimal
	Rank   string `json:"rank"`
	Issued int64  `json:"issued"` // unix milliseconds
	Until  int64  `json:"until"`  // unix seconds
}

func saveGrant(m priority.Mark) savedGrant {
	return savedGrant{hex.EncodeToString(m.Pass[:]), m.Rank.String(), m.Issued, m.Until}
}

func (g savedGrant) mark() (m priority.Mark, err error) {
	id, err := hex.DecodeString(g.Pass)
	rank, known := pipeline.ParseRank(g.Rank)
	if err != nil || len(id) != len(m.Pass) || !known {
		return m, fmt.Errorf("%q of pass %q is no grant", g.Rank, g.Pass)
	}
	m = priority.Mark{Rank: rank, Issued: g.Issued, Until: g.Until}
	copy(m.Pass[:], id)
	return m, nil
}

// savedSale is a skip.Sale as it is written.
type savedSale struct {
	Payment   string `json:"payment"`
	Ticket    uint64 `json:"ticket,string"`
	Position  int    `json:"position"`
	PassUntil int64  `json:"pass_until,omitempty"` // unix seconds
}

func (s savedSale) sale() (skip.Sale, error) {
	if s.Payment == "" || s.Ticket == 0 {
		return skip.Sale{}, errors.New("a sale lacks its payment or its ticket")
	}
	return skip.Sale(s), nil
}

// readAs gives what is read as JSON to take.
func readAs[T any](take func(T) error) func([]byte) error {
	return func(text []byte) error {
		var v T
		if err := json.Unmarshal(text, &v); err != nil {
			return err
		}
		return take(v)
	}
}

// openMarks reads the files into the stages, and what a predecessor had.
func (a *App) openMarks(kept *legacy, now time.Time) error {
	grants, noGrants := a.readGrants()
	sales, noSales := a.readSales()
	if kept != nil {
		for _, g := range kept.Grants {
			if m, err := g.mark(); err == nil {
				grants = append(grants, m)
			}
		}
		for _, s := range kept.Sales {
			sales = append(sales, skip.Sale(s))
		}
	}
	a.restoreGrants(grants, now)
	a.stages.skip.Restore(sales, now)
	return errors.Join(noGrants, noSales)
}

// records opens a file of marks and says what was odd about it.
func (a *App) records(c persist.RecordsConfig) (*persist.Records, error) {
	r, warning, err := a.data.Records(c)
	if warning != "" {
		a.log.Warn(warning)
	}
	return r, err
}

func (a *App) readGrants() (grants []priority.Mark, err error) {
	a.marks.grants, err = a.records(persist.RecordsConfig{
		Name: persist.GrantsName,
		Read: readAs(func(g savedGrant) error {
			m, err := g.mark()
			if err == nil {
				grants = append(grants, m)
			}
			return err
		}),
		All: func(emit func(any)) {
			for _, m := range a.grants(time.Now()) {
				emit(saveGrant(m))
			}
		},
	})
	return grants, err
}

func (a *App) readSales() (sales []skip.Sale, err error) {
	a.marks.sales, err = a.records(persist.RecordsConfig{
		Name: persist.SalesName,
		Read: readAs(func(s savedSale) error {
			m, err := s.sale()
			if err == nil {
				sales = append(sales, m)
			}
			return err
		}),
		All: func(emit func(any)) {
			for _, s := range a.stages.skip.Sales() {
				emit(savedSale(s))
			}
		},
	})
	return sales, err
}

// grants are what the stages of all rooms remember of ranks, each pass's once.
func (a *App) grants(now time.Time) []priority.Mark {
	all := a.stages.priority.Marks(now)
	seen := map[[16]byte]bool{}
	for _, m := range all {
		seen[m.Pass] = true
	}
	for _, r := range a.inline.all() {
		for _, m := range r.priority.Marks(now) {
			if !seen[m.Pass] {
				seen[m.Pass] = true
				all = append(all, m)
			}
		}
	}
	return all
}

// restoreGrants tells every room of grants: which one a pass is of, they do not
// say.
func (a *App) restoreGrants(all []priority.Mark, now time.Time) {
	a.stages.priority.Restore(all, now)
	for _, r := range a.inline.all() {
		r.priority.Restore(all, now)
	}
}

// grantChanged takes down a grant. It is on disk within a fraction of a second.
func (a *App) grantChanged(m priority.Mark) {
	g := saveGrant(m)
	a.marks.grants.Add(g)
	a.tell(toldGrant, g.Pass, g, m.Until)
}

// sold puts a promotion on disk: the place, and the payment if there is one.
// The ticket is promoted already. When the disk fails, that is reported like
// all faults, and nothing is forgotten before a crash.
func (a *App) sold(s skip.Sale) {
	a.data.SyncLine()
	if s.Payment != "" {
		a.marks.sales.Add(savedSale(s))
		a.tell(toldSale, s.Payment, savedSale(s), time.Now().Add(saleKept).Unix())
		_ = a.marks.sales.Sync() // noted as a fault, and tried again
	}
}

// run saves until ctx ends, and all of it then.
func (m *marks) run(ctx context.Context, failed func(what string, err error)) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for what, r := range map[string]*persist.Records{"grants": m.grants, "sales": m.sales} {
		wg.Go(func() { // ends with ctx
			if err := r.Run(ctx); err != nil {
				failed(what, err)
			}
		})
	}
}

// leaveMarks is the other side of openMarks for a successor.
func (a *App) leaveMarks(l *legacy, now time.Time) {
	for _, m := range a.grants(now) {
		l.Grants = append(l.Grants, saveGrant(m))
	}
	for _, s := range a.stages.skip.Sales() {
		l.Sales = append(l.Sales, savedSale(s))
	}
}
