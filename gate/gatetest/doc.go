// Package gatetest is the contract of gate.Store as tests.
//
//	func TestContract(t *testing.T) {
//		gatetest.Run(t, gatetest.Crowd, func(t *testing.T, start time.Time) gate.Store { … })
//	}
//
// Time is an argument of a store's methods, so the tests step through hours in
// no time. A store that reads a clock of its own must be told the tests' one.
package gatetest
