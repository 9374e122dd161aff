// Package drain measures how a waiting line drains a crowd.
//
// It starts a slow origin that counts, Concert in front of it (or uses a proxy
// that already runs), sends a crowd of visitors, and reports how full the
// origin was kept, how much it ever had at once, in what order the visitors
// came in, and who did not.
//
//	report, err := drain.Run(ctx, scenario, drain.Target{Binary: path})
//	fmt.Print(report)
//
// Utilisation is the time that the admitted pages needed at the least, cap at
// a time, divided by the time from the first arrival to the last page: 1 is an
// origin kept full from beginning to end. Inverted pairs are the share of all
// pairs of admitted visitors of whom the later one came in first: 0 is strict
// order, 0.5 is chance; pairs that arrive closer together than the network's
// own jitter count too.
//
// The crowd, the origin and Concert share one machine: repeat a run whose
// figures surprise. Only loopback addresses are used.
package drain
