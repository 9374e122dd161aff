// Package priority serves visitors sooner whom the application behind Concert
// ranks higher, and sees to it that no form is lost while the site is busy.
//
//	keys, err := signed.NewKeyring(secrets, priority.Purpose)
//	s, err := priority.New(priority.Config{Line: l, Grants: keys, LaneRank: pipeline.Customer, …})
//	p, err := pipeline.New(cfg, classify, operations, pass, s, queue, …)
//
// The stage stands behind the pass stage and before the queue stage.
//
// # Grants
//
// A page's response may carry Concert-Priority, such as "checkout; ttl=30m"
// (parseHeader has the grammar). It is taken off, and what it grants goes
// into the cookie concert_priority: signed, bound to the id of the visitor's
// admission pass, with the time it was issued. The latest header wins: it
// raises, lowers, renews or, as guest, clears.
//
// A browser may keep an older cookie and send it again. So the stage remembers
// the issue time of each pass's newest grant, and an older one counts for
// nothing. It remembers [Remembered] passes; when more hold grants at once, the
// pass whose grant is oldest is forgotten, and whoever kept an even older
// cookie of that pass could use it until that expires, a day at the most ([MaxTTL]).
// Config.Changed and Stage.Restore carry the memory over a restart, and to other
// instances.
//
// A grant counts as long as it has not expired and an authentic pass of its id
// comes with it, even one that has run out: somebody who types card details
// for a quarter of an hour is still at the checkout. Anything else is a guest's
// and no offence.
//
// # The lane
//
// A visit of at least the lane's rank first asks the line for a slot without
// taking a place. If there is none at once, it goes to the lane, which has
// slots of its own: the origin sees at most the page cap plus the lane's cap.
// The lane gives a slot that is free to whoever comes, and hands one that is
// given back straight to a waiter: of the highest rank, and within a rank to
// the one who came first. So that no rank starves, each fourth hand-over goes
// to whoever has waited longest, once that is half of Config.Wait. Meanwhile
// the visit also stands at the line's door if its turn there would come soon,
// and takes whichever slot comes first.
//
// A visit that gets no slot within Config.Wait joins the line with its rank.
// One that has a place in line does not wait again: it takes a free slot of the
// lane or goes to its place.
//
// While the room is paused or closed the lane is too.
//
// # Forms
//
// A form is a POST, PUT, PATCH or DELETE from a visitor with a valid pass; with
// Config.Forms it uses the lane at its own rank. Whatever its rank, a form that
// gets no slot is refused with pipeline.FormNotSent and never joins the line:
// a waiting page would swallow it. There is no moment between looking for a
// slot and taking it, so none can be lost in between.
//
// Config.FormHold keeps a form waiting for longer than Config.Wait if all of it
// has arrived and it is no larger than pipeline.MaxHeldBody. It is lost like
// any request being answered if its visitor, or this process, leaves.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use and starts no goroutines. Checking a grant
// allocates nothing. At most [MaxWaiting] visits of each rank wait in the lane,
// and one pass has at most two requests, or half as many as the lane has slots,
// in it at once, so that a pass that is passed around cannot fill it.
package priority
