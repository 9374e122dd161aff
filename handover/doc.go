// Package handover replaces a running server by a new process without closing
// its sockets: nobody is refused while a new version is put in place.
//
// # Usage
//
//	p, err := handover.Join(handover.Options{Args: os.Args, Environ: os.Environ()})
//	ln, err := p.Listen("tcp", ":8080")     // inherited, or new
//	handed, err := p.TakeOver(ctx)          // what the predecessor leaves; zero without one
//	... restore handed.State, begin to accept on ln ...
//	p.Serving(func(n handover.InFlight) { ... lower the cap by n ... })
//	...
//	on SIGUSR2: err := p.Upgrade(ctx, handover.Plan{...}); if nil: drain and exit
//
// To drain, [Conns.Shutdown] takes the place of http.Server.Shutdown, which
// drops requests.
//
// Sockets come from three places: a predecessor, systemd (socket activation),
// or they are opened anew.
//
// # The course of an upgrade
//
//	   predecessor                            successor
//	1  starts it, with all sockets            reads its configuration, builds everything
//	2                             <- ready    TakeOver
//	3  stops accepting (connections wait in
//	   the kernel), Plan.Freeze
//	4  in flight, state ->                    restores the line, begins to accept
//	5                             <- serving  Serving
//	6  Upgrade returns nil; it drains,
//	   and sends what is in flight ->         raises its cap as that falls
//	7  exits                                  the whole cap is its own
//
// Up to step 5 the predecessor can go on as if nothing had happened, and does
// when anything fails: the successor is killed and seen dead, Plan.Thaw is
// called, the sockets accept again. A successor that does not start, or does
// not like its configuration, costs nothing.
//
// # Who admits, and the cap
//
// At any moment exactly one of the two lets newcomers in: the predecessor until
// Freeze, the successor from step 4 on. What the predecessor may still have at
// the origin counts against the successor's cap: the number comes with the
// state, and again whenever it falls. It must never rise, so a late report can
// only leave slots idle, never exceed the cap; as long as it does not, the
// predecessor may let in those who stand at its door. When the predecessor is
// gone, however it ended, the number is 0.
//
// # Places
//
// Freeze closes the line and takes a snapshot, which travels as the state and
// not through a file, so it works without a data directory as well. Whoever
// stands at the predecessor's door is in the snapshot, too: if the door's time
// is over first, they are in the same place at the successor's. A visitor who
// got a place from the predecessor after Freeze would be a newcomer to the
// successor; so Concert sends those who come on connections that were open
// before to the successor, and closes each of them behind that answer.
//
// # systemd
//
// With Type=notify the new process becomes the unit's main process; with other
// types systemd ends the unit when the old one exits, so there an upgrade is a
// restart, and a socket unit keeps connections waiting meanwhile. A process
// with number 1, as in a container, cannot be replaced: the container ends
// with it.
//
// # Limits
//
// Unix only: elsewhere Listen works, and Upgrade is [ErrUnsupported].
// The environment and the command line of the successor are those of this
// process; a new binary has to be at the same path.
package handover
