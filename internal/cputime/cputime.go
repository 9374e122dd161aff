package cputime

import "testing"

// Report runs the loop and adds cpu-ns/op to what b reports. Nothing else of
// the process should run meanwhile.
func Report(b *testing.B, loop func()) {
	before, err := own()
	loop()
	after, _ := own() // fails when the first did
	if err == nil {
		b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
	}
}
