package abuse

import (
	"maps"
	"net/netip"
	"slices"
	"time"
)

// model is the registry as one would write it without a thought for speed:
// every rule is applied by looking at everything.
type model struct {
	Config
	known  map[netip.Prefix]*record
	clock  int // counts strikes and endings
	missed uint64
}

type record struct {
	ban     *Ban
	running bool
	acts    []modelAct
	turn    int // when the clock last moved for it
}

type modelAct struct {
	at     time.Time
	weight int
}

func newModel(c Config) *model { return &model{Config: c, known: map[netip.Prefix]*record{}} }

func (m *model) exempt(a netip.Addr) bool { return m.Allow.Contains(a) || m.Proxies.Contains(a) }

func (m *model) exemptAll(p netip.Prefix) bool {
	for _, e := range slices.Concat(m.Allow.Prefixes(), m.Proxies.Prefixes()) {
		if e.Bits() <= p.Bits() && e.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

func (m *model) clients() int {
	n := 0
	for p := range m.known {
		if !isRange(p) {
			n++
		}
	}
	return n
}

// pass lets time pass: bans end, in the order of their ends.
func (m *model) pass(now time.Time) {
	var over []netip.Prefix
	for p, rec := range m.known {
		if rec.running && !rec.ban.Active(now) {
			over = append(over, p)
		}
	}
	slices.SortFunc(over, func(a, b netip.Prefix) int { return m.known[a].ban.Until.Compare(m.known[b].ban.Until) })
	for _, p := range over {
		if isRange(p) {
			delete(m.known, p)
			continue
		}
		m.clock++
		m.known[p].running, m.known[p].turn = false, m.clock
	}
}

func (m *model) live(rec *record, now time.Time) int {
	total := 0
	for _, a := range rec.acts {
		if now.Sub(a.at) < m.Window {
			total += a.weight
		}
	}
	return total
}

func (m *model) outlived(rec *record, now time.Time) bool {
	return rec.ban != nil && !rec.running && now.Sub(rec.ban.Until) > m.MaxCooldown && m.live(rec, now) == 0
}

// spare is the client to do without.
func (m *model) spare() (netip.Prefix, bool) {
	var best netip.Prefix
	for p, rec := range m.known {
		if isRange(p) || rec.running {
			continue
		}
		b := m.known[best]
		if b == nil || (rec.ban == nil) != (b.ban == nil) && rec.ban == nil || (rec.ban == nil) == (b.ban == nil) && rec.turn < b.turn {
			best = p
		}
	}
	return best, best.IsValid()
}

func (m *model) makeRoom() bool {
	if m.clients() < m.MaxEntries {
		return true
	}
	p, ok := m.spare()
	delete(m.known, p)
	return ok
}

// enlist returns the record of a client or range; nil: there is no place.
func (m *model) enlist(p netip.Prefix, now time.Time, always bool) *record {
	m.pass(now)
	rec := m.known[p]
	switch {
	case rec == nil && !isRange(p) && !m.makeRoom() && !always:
		m.missed++
		return nil
	case rec == nil:
		rec = &record{}
		m.known[p] = rec
	case !m.outlived(rec, now):
		return rec
	default:
		rec.ban = nil
	}
	m.clock++
	rec.turn = m.clock
	return rec
}

func (m *model) strike(a netip.Addr, weight int, now time.Time) {
	if !m.Enabled || m.exempt(a) {
		return
	}
	rec := m.enlist(keyOf(a), now, false)
	if rec == nil || rec.running {
		return
	}
	rec.acts = append(rec.acts, modelAct{now, weight})
	if rec.ban == nil {
		m.clock++
		rec.turn = m.clock
	}
	if m.live(rec, now) >= m.Strikes {
		m.punish(keyOf(a), rec, "act", now)
	}
}

func (m *model) trap(a netip.Addr, now time.Time) {
	if !m.Enabled || m.exempt(a) {
		return
	}
	if rec := m.enlist(keyOf(a), now, false); rec != nil && !rec.running {
		m.punish(keyOf(a), rec, CauseTrap, now)
	}
}

func (m *model) punish(p netip.Prefix, rec *record, cause string, now time.Time) {
	n, length := 1, m.Cooldown
	if rec.ban != nil {
		n = rec.ban.Offenses + 1
	}
	for i := 1; i < n && length < m.MaxCooldown; i++ {
		length = min(2*length, m.MaxCooldown)
	}
	rec.run(&Ban{Client: p, Since: now, Until: now.Add(length), Offenses: n, Cause: cause})
}

func (rec *record) run(b *Ban) { rec.ban, rec.running, rec.acts = b, true, nil }

func (m *model) order(p netip.Prefix, d time.Duration, now time.Time) {
	if m.exemptAll(p) {
		return
	}
	rec := m.enlist(p, now, true)
	b := &Ban{Client: p, Since: now, Offenses: 1, Cause: CauseOperator}
	if rec.ban != nil {
		b.Offenses = rec.ban.Offenses
		if !rec.running {
			b.Offenses++
		}
	}
	if d > 0 {
		b.Until = now.Add(d)
	}
	rec.run(b)
}

func (m *model) lift(p netip.Prefix, now time.Time) {
	m.pass(now)
	delete(m.known, p)
}

func (m *model) sweep(now time.Time) {
	m.pass(now)
	maps.DeleteFunc(m.known, func(p netip.Prefix, rec *record) bool {
		return m.outlived(rec, now) || rec.ban == nil && m.live(rec, now) == 0
	})
}

func (m *model) apply(c Config, now time.Time) {
	m.Config = c
	m.pass(now)
	maps.DeleteFunc(m.known, func(p netip.Prefix, _ *record) bool { return !isRange(p) && m.exemptAll(p) })
	m.shrink()
}

func (m *model) shrink() {
	for m.clients() > m.MaxEntries {
		p, ok := m.spare()
		if !ok {
			return
		}
		delete(m.known, p)
	}
}

// restart is a snapshot restored into a new registry.
func (m *model) restart(now time.Time) {
	m.sweep(now)
	m.missed = 0
	maps.DeleteFunc(m.known, func(p netip.Prefix, rec *record) bool {
		rec.acts = nil
		return rec.ban == nil || m.outlived(rec, now) || !isRange(p) && m.exemptAll(p)
	})
	m.shrink()
}

func (m *model) lookup(a netip.Addr, now time.Time) *Ban {
	var found *Ban
	if m.Enabled && !m.exempt(a) {
		for p, rec := range m.known {
			if rec.running && p.Contains(a) && rec.ban.Active(now) {
				found = longer(found, rec.ban)
			}
		}
	}
	return found
}
