// Package fleet is what the instances of a room tell each other beside the
// line: bans, strikes, settings, grants, payments.
//
//	l := fleet.New(fleet.Options{Conn: c, Room: "shop", Instance: "a", Take: take, All: all})
//	err := l.Load(ctx)      // what is known already, before serving
//	go l.Run(ctx)
//	l.Tell(fleet.Message{Kind: "ban", Key: "203.0.113.9/32", Data: data, Keep: true, Until: end})
//
// # How it works
//
// A message goes into a stream on Redis, which every instance reads as it
// grows; so it is known everywhere within a fraction of a second, and whoever
// was away reads on where it stopped. A message that is kept is also put into a
// hash, as the latest of its kind and key, for those who start later.
//
// What is told while Redis is away is sent when it is back. When Redis has lost
// everything, each instance tells all it knows again (Options.All). So messages
// can come twice, and in another order than they were told by different
// instances: Take must bear that.
//
// # Limits
//
// While Redis is away the latest messages are remembered, [MostUntold] at most;
// those that are not kept are dropped first. The stream holds about 20,000; who
// missed more loads everything anew. Load reads all that is kept.
//
// # Questions
//
// A [Desk] asks one instance for what only that one knows, such as its history:
//
//	d := fleet.NewDesk(fleet.DeskOptions{Conn: c, Room: "shop", Name: name, Answer: answer})
//	go d.Run(ctx)
//	body, err := d.Ask(ctx, "b-1x9", "visitors", "q=wp-login")
//
// Whoever can write to that Redis can ask, as they can order bans; answers are
// in it for seconds.
//
// # Concurrency
//
// Tell may be called by any goroutine and never waits. Take is called by one
// goroutine at a time.
package fleet
