// Package cputest adds processor time to benchmarks.
//
//	cputest.Report(b, func() {
//		for b.Loop() {
//			…
//		}
//	})
//
// What a benchmark calls ns/op is time that passes, in which a machine may do
// other things; cpu-ns/op is what the process had of the processor, all its
// goroutines and the garbage collector included. It is told on Linux only.
package cputest

import (
	"testing"

	"github.com/andreimerlescu/concert/internal/cputime"
)

// Report runs the loop and adds cpu-ns/op to what b reports. Nothing else of
// the process should run meanwhile.
func Report(b *testing.B, loop func()) {
	before, err := cputime.Used()
	loop()
	after, _ := cputime.Used() // fails when the first did
	if err == nil {
		b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
	}
}
