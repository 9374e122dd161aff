// Package cputime adds processor time to benchmarks.
//
//	cputime.Report(b, func() {
//		for b.Loop() {
//			…
//		}
//	})
//
// What a benchmark calls ns/op is time that passes, in which a machine may do
// other things; cpu-ns/op is what the process had of the processor, all its
// goroutines and the garbage collector included. It is told on Linux only.
package cputime
