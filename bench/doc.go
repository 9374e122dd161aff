// Package bench holds the benchmarks that span packages.
//
//	make bench                                 # everything, written to docs/performance.md
//	go test -run '^$' -bench Drain ./bench     # the presets of package drain
//	go run ./bench/cmd/drain -preset B3        # one of them, as a report
//
// They run the built binary, on loopback only, with a crowd of simulated
// visitors: they show how full a line keeps its origin, and are not tests of
// time. What must hold at any speed (the cap, nobody lost) fails them.
package bench
