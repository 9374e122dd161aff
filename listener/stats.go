package listener

// refusal is why a connection is not served.
type refusal int

const (
	notRefused     refusal = iota
	tooMany                // MaxConns
	tooManyOfOne           // MaxPerClient
	malformedProxy         // no PROXY header, or one that says nothing
	slowProxy              // none in time
	numRefusals
)

var refusalNames = [numRefusals]string{"", "max-conns", "max-conns-per-client", "proxy-header", "proxy-timeout"}

// String returns the name that metrics print.
func (r refusal) String() string { return refusalNames[r] }

// remedies tell an operator what to do.
var remedies = [numRefusals]string{
	tooMany:        "raise -max-conns and the limit of open files, or set -max-conns-per-client",
	tooManyOfOne:   "if many people share the address, name it in -abuse-allow or raise -max-conns-per-client",
	malformedProxy: "have the proxy send a PROXY header, take it out of -trusted-proxies, or turn -proxy-protocol off",
	slowProxy:      "look at the proxy: it connects and does not send its PROXY header",
}

// Stats are a guard's counters.
type Stats struct {
	Limit   int               // the most connections at once; 0 for no limit
	Open    int               // connections now
	Clients int               // clients with at least one
	Shed    uint64            // waiting connections closed to make room
	Resets  uint64            // connections closed for taking requests back
	Refused map[string]uint64 // by reason
}

// Stats reads the counters.
func (g *Guard) Stats() Stats {
	s := Stats{Limit: g.cfg.Load().MaxConns, Shed: g.shed.Load(), Resets: g.resets.Load(), Refused: make(map[string]uint64)}
	for r := notRefused + 1; r < numRefusals; r++ {
		s.Refused[r.String()] = g.refused[r].Load()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s.Open, s.Clients = len(g.entries), len(g.clients)
	return s
}
