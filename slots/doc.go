// Package slots limits how many things are done at once.
//
// A [Gate] is a counting gate with fair waiting and a capacity that can be
// changed while it is in use. [Pools] keeps one small pair of gates per key,
// such as one per admission pass.
//
//	gate := slots.New(512)
//	switch gate.Acquire(r.Context().Done(), 2*time.Second) {
//	case slots.Acquired:
//		defer gate.Release()
//	case slots.TimedOut: // the gate stayed full
//	case slots.Left:     // the caller went away; nobody's fault
//	}
//
// # What holds
//
//  1. At most Cap slots are held, save while a shrink waits for holders to
//     leave; during that time nobody enters.
//  2. Waiters enter in the order they came, and nobody overtakes them:
//     TryAcquire fails while anybody waits.
//  3. No slot is free while anybody waits. A release hands its slot straight
//     to the first waiter and wakes that one only.
//  4. A grant is never lost: a waiter that leaves just as it was granted a
//     slot passes it on.
//
// # How it counts
//
// The count is kept by github.com/andreimerlescu/sema, through TryAcquire and
// Release alone, which are exact. Its SetCap forgets the holders when the new
// capacity is below what is held, and its AcquireWith can sleep through the
// release it waits for; so the waiting is done here, and a gate calls SetCap
// only with a capacity that covers every permit in use. What a shrink still
// has to take away is withheld permit by permit as holders leave
// (sema_test.go states these facts). A sema costs the same few hundred bytes
// at every capacity, because a channel of empty structs has no buffer.
//
// # Concurrency and cost
//
// Every method may be called from any goroutine; none of them starts one.
// Taking and releasing a free slot allocates nothing; a caller that has to
// wait allocates its place and its timer. SetCap takes time in proportion to
// the slots held, everything else is constant.
package slots
