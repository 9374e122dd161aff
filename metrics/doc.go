// Package metrics counts finished visits and shows the program's counters in
// the Prometheus text format.
//
//	requests := metrics.NewObserver() // one of the pipeline's observers
//	mux.Handle("/metrics", metrics.Handler(metrics.NewCollector(metrics.Sources{Requests: requests, Rows: rows})))
//
// Nothing is registered anywhere: an [Observer] counts into its own atomics on
// the way of a request (no allocation, no lock), and a [Collector] reads those
// and the other packages' counters when somebody scrapes.
package metrics
