// Package headroom keeps the garbage collector from running all the time in a
// program whose heap is small.
//
//	stop := headroom.Keep(32 << 20)
//	defer stop()
//
// Go collects when the heap has doubled. That of a proxy is a few megabytes,
// which a busy one allocates dozens of times a second. With headroom the next
// collection waits until that much has been allocated, and a heap that is
// larger than the headroom is collected as ever. It costs at most as much
// memory. What the operator has set stands: GOGC turns headroom off, and
// GOMEMLIMIT has the collector run as often as it takes.
//
// # Concurrency and limits
//
// The setting is the process's: a library must not use it. It is renewed after
// each collection, on the runtime's goroutine for cleanups. Until then, for
// microseconds, the goal is by the heap before.
package headroom
