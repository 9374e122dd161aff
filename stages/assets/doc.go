// Package assets keeps the asset tier within its limits: so many requests at
// once per admission pass, and so many altogether.
//
// # Usage
//
//	s, err := assets.New(assets.Config{
//		Caps:       assets.Caps{UserH1: 8, UserH2: 128, Global: 4096},
//		UserWait:   2 * time.Second,
//		GlobalWait: 2 * time.Second,
//		IdleTTL:    10 * time.Minute,
//	})
//	…
//	s.Sweep(time.Now()) // now and then, from the program's housekeeping
//
// An asset takes a slot of its pass's own pool first and of the global pool
// second, so that a visitor over its own limit cannot use up what belongs to
// all. A public asset takes a global slot only. Both are held until the
// response was delivered.
//
// A pass has one pool for HTTP/1 and one for HTTP/2 and later: a browser opens
// about six connections over the former and a hundred streams over the latter.
//
// # Who is to blame
//
// A pool that stays full for UserWait is a strike, since no browser asks for so
// much at once. A client that hangs up while it waits is neither counted as
// throttled nor struck: leaving a page with images under way is what people do.
// A full global pool is nobody's fault.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use and starts no goroutine. It lives as long
// as the process: Apply changes it in place, and whoever holds a slot keeps it and
// counts against the new limit.
//
// The stage trusts the visit's pass. Asset visits without a valid one, which
// the pass stage turns away, would all share one pool.
package assets
