// Package redistest runs real Redis servers for tests.
//
//	s := redistest.Start(t)         // on a free port of the loopback, in a directory of its own
//	c := s.Client(t)
//	s.Pause(); s.Resume()           // SIGSTOP and SIGCONT
//	s.Kill(); s.Restart()           // what it held is gone, unless started with persistence
//
// Every server ends with its test. Without the program, the test is skipped, or
// fails under CI=true.
package redistest
