// Package linetest is the contract of a line.Line in executable form.
//
//	func TestContract(t *testing.T) {
//		linetest.Run(t, func(t *testing.T, s line.Settings, start time.Time) line.Line {
//			return memory.New(memory.Options{Settings: s, Start: start})
//		})
//	}
//
// It goes through the interface alone and steps the time by hand, calling
// Advance whenever the line asks for it, so it needs no clock and does not
// wait. What an implementation is free to choose, such as the exact poll
// delays, is checked only as far as the contract goes.
package linetest
