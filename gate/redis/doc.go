// Package redis keeps off-site rooms in Redis or Valkey, for several processes
// that share them.
//
//	conn, err := redisline.ParseURL("redis://:password@127.0.0.1:6379/0")
//	s := redis.New(redis.Options{Conn: conn})
//	defer s.Close()
//
// # How
//
// Every method is one call of one Lua script (script.lua), on the server's
// clock: whoever asks brings the room up to the present. There is no dispatcher
// and no leader, so there is nothing to fail over. Operators' changes are
// compared and set: of two at the same time the second is decided anew.
//
// # Keys
//
// All begin with the prefix and {gate}, so that a cluster keeps them together:
//
//	rooms          hash    id → what operators decided, as JSON
//	line:ID        hash    the counters of a room
//	seats:ID       zset    who is counted by the cap, until when
//	on:ID          zset    who has exchanged, until when the access lasts
//	late:ID        zset    admitted ones who came too late and ask for a seat
//	minutes:ID     hash    exchanged per minute
//	messages, audit:ID     what the names say
//	ticket:ID:…    string  turn, last seen, exchanged; ends by itself
//	spent:JTI      string  a token that was used; ends with it
//
// # When Redis is away
//
// Methods return errors that wrap gate.ErrUnavailable. Nobody is let in then,
// and nobody loses a place: waiting pages ask again by themselves.
//
// # Limits
//
// What Redis loses in a crash is lost: with appendfsync everysec the last
// second, whose ticket numbers are then given out again. The two who hold one
// are told apart by their tokens, and one of them has to join again.
//
// # Concurrency
//
// A Store is safe for concurrent use. It starts no goroutines beyond the
// client's, which Close ends.
package redis
