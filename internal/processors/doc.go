// Package processors has a program that waits most of the time run on one
// processor, and on all of them as soon as there is work for more.
//
//	stop := processors.Keep(os.Environ())
//	defer stop()
//
// Whenever a goroutine becomes ready while a processor has nothing to do, Go
// wakes a thread to look for it. In a server that is not busy the goroutine has
// mostly been run by then, by the thread that woke the other: a page that passes
// through takes several such wake-ups, and they cost more than the page does.
// With one processor there is nobody to wake.
//
// One processor is left for all when it was busy for 85 % of 20 ms; when that took
// 5 ms longer, since others want the processor and two threads are given more of
// it than one; and when the heap has grown beyond 32 MiB, since one processor would
// have to collect its garbage alone. All are left for one after a second with none
// of that, in which less than nine tenths of one were used, or, where one has not
// been enough before, after up to four such seconds. Who has next to nothing to do
// looks at it ten times a second only, which takes some 0.3 % of a processor. What
// the operator has set stands: nothing is done when GOMAXPROCS is in the
// environment.
//
// # Concurrency and limits
//
// The setting is the process's: a library must not use it. A change stops all
// goroutines for some 50 µs. It is done on Linux only, where the time that the
// process has used is told.
package processors
