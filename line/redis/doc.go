// Package redisline is one waiting line for many instances, kept in Redis or
// Valkey.
//
//	l := redisline.New(redisline.Options{Conn: c, Room: "shop", Instance: "a", Settings: s})
//	go l.Run(ctx)
//	go line.Drive(ctx, l)
//	d, err := l.Enter(ctx, time.Now(), line.Entry{Client: key, MayHold: true})
//
// # How it works
//
// Every operation is one Lua script (script/*.lua) on the time of Redis, so it
// happens at once or not at all. There is no leader. The rules are those of
// package memory, over sorted sets instead of trees: whatever a script does for
// a ticket costs O(log n), and what it does for others is bounded by a batch.
//
// Slots are lent to instances. While nobody waits, an instance borrows more
// than it needs at once and admits people by itself, without asking Redis. When
// somebody waits anywhere, all of them are told and give back what they do not
// use; from then on each slot is asked for. What is lent out never adds up to
// more than the cap. A heartbeat renews what an instance holds; what a dead one
// held comes back when its lease has run out, never earlier, and time in which
// Redis itself was away does not count.
//
// Requests at the door are held by their instance. Who is let in is put into
// that instance's mail, which comes with the answer of its next call; a message
// on its channel says that there is some. Mail stays until it is confirmed.
//
// # When Redis is away
//
// Package redisline then goes by [Policy]; see outage.go. After it is back each
// instance synchronizes: it says what it holds, and takes up what it missed. A
// call that comes late, of before that, has no effect. When Redis has lost the
// room, or fell back to an older state of it, tickets that visitors bring are
// put back at their numbers, and until they had the time to ask again, the line
// stands as the instances remember it.
//
// A balancer goes on sending visitors to an instance that alone is cut off, so
// that some of their requests reach nobody who knows the line; see elsewhere.go.
//
// # Times
//
// Redis's clock is the line's. Times that callers pass are used for what is
// relative to them, such as Decision.Until. With Options.Given they are the
// line's, too, for tests that step the time by hand.
//
// # Limits
//
// A ticket takes about 600 bytes of Redis's memory. A line limited by
// Policy.Inflow asks for each admission. What a call does for one ticket is
// O(log n), and it handles at most 256 others; it reads all instances, all pages
// that one had which is lost, and all that is at the door while an instance
// there is mute. Places are told exactly, save after a loss of the room, when
// they are estimates until everybody is back.
package redisline
