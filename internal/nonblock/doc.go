// Package nonblock reads and writes sockets without the Go scheduler's taking
// note of it.
//
//	var s nonblock.Socket
//	s.Of(conn)
//	n, err := s.Read(buf)
//
// A system call usually tells the scheduler that its thread may be gone for
// long. That starts a watching thread, which looks in every 20 µs, and on the
// way back the processor has to be won again. A socket that is read or written
// with MSG_DONTWAIT never makes a thread wait: the call copies what there is and
// returns. So it is made as any other code runs (syscall.RawSyscall6), and the
// waiting is left to the poller, as package net does.
//
// # Concurrency
//
// A [Socket] may be used as its connection may, by many goroutines at once.
//
// # Limits
//
// It is done on Linux, for TCP and Unix sockets, and never when data races are
// looked for, as the detector does not see such calls. Elsewhere everything goes
// the usual way. A call moves at most 64 KiB, so that no goroutine holds a
// processor for much longer than it takes to copy them, and one read in 16 of
// each connection goes the usual way: where nobody ever does, the watching thread
// would sleep on, and it is also who interrupts goroutines that compute for long.
package nonblock
