// Package pipeline carries one request through an ordered slice of stages.
//
// # The way of a request
//
//	p, err := pipeline.New(pipeline.Config{…}, stages...)
//	http.Serve(listener, p)
//
// ServeHTTP takes a [Visit] from a pool, fills in what every stage may rely on
// (client address, canonical path), and offers the visit to the stages in
// order. A stage goes on ([Next]), sends the visit straight to the origin
// ([Forward]), answers it itself ([Answered]) or refuses it with an error. When
// all stages have said Next, the origin handler runs. Only this package renders
// refusals, so all of them look alike. Who answers sets prepared header fields
// with [Visit.SetFields], which costs less than W.Header.
//
// # Holding and releasing
//
// What a stage takes for a visit (a slot, say) it hands to [Visit.Hold]. The
// pipeline gives it back exactly once, last taken first, after the last byte of
// the response was handed to the network: also when a later stage refuses, the
// client hangs up, a handler panics or the connection is hijacked.
//
// # Concurrency and limits
//
// A Pipeline is safe for concurrent use; [Pipeline.Swap] exchanges its stages for
// the visits to come. A Visit belongs to the goroutine that serves it; nothing may
// keep it, or its W, after ServeHTTP has returned. At most [MaxHolds] things can be
// held and [MaxEditors] response editors set per visit.
package pipeline
