// Package line defines the waiting line: who is admitted to the origin, who
// stands at the door, who waits and in what order.
//
//	d, err := l.Enter(ctx, time.Now(), line.Entry{Client: key, MayHold: true})
//	switch d.Verdict {
//	case line.Admitted:
//		defer l.Release(time.Now(), d.Slot)
//	case line.Waiting: // tell d.Place; its owner asks with Poll
//	}
//
// A line knows no HTTP. Every method takes the time as an argument, so that an
// implementation is a state machine that tests can step through by hand, and
// the Redis line can use one clock for all its instances.
//
// # Words
//
// A ticket is a place in line. Its owner is waiting, then called (told to
// come), then at the door (a request held open until a slot is free), then
// admitted (holds a slot). A ticket is present while its owner has been seen
// recently enough for the poll delay it was given; otherwise it is absent: it
// is passed over but keeps its place until its lifetime ends.
//
// # What every implementation holds
//
//  1. Never more slots out than [Policy.Cap], also while the cap shrinks.
//  2. First come, first served among those present.
//  3. While anybody present waits, no slot stays idle longer than a reload takes,
//     or one slot is held on average.
//  4. Nobody loses a place by reloading, by a second tab or by a restart.
//
// Package linetest is the executable form of this contract.
package line
