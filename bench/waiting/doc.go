// Package waiting measures what a long line costs: the memory and the processor
// time of Concert while a crowd waits and asks at the pace it is told.
//
//	report, err := waiting.Run(ctx, waiting.Settings{Visitors: 100_000, Watch: time.Minute, Binary: binary})
//	fmt.Print(report)
//
// The room is full and stays so. Every visitor has an address of its own
// (127.0.0.0/8 is all loopback), asks each time on a new connection, and comes
// back when the answer's poll_after_ms is over. Memory is what the process has
// of the machine's (VmRSS and VmHWM of proc(5)), garbage, connections and the
// program itself included.
//
// It needs Linux, uses loopback only and ends all it has started.
package waiting
