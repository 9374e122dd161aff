// Package paths decides what a request path means, once, for every rule.
//
// Requests are forwarded byte for byte, so Concert cannot choose how an origin
// reads a path: whether `%2F` separates, whether `//` is one slash, whether
// `;x`, a trailing dot or what follows a NUL counts. [Canonical] therefore
// finds all the readings a known kind of origin could have, and rules are held
// against each of them:
//
//   - a strict rule (a ban path, one of Concert's own paths) is met when any
//     reading meets it;
//   - a loose rule (bypass, public asset, asset, stream) is met when all
//     readings meet it, and never by a path no honest client sends.
//
// Whatever is left is an ordinary page. So no spelling of a path reaches the
// origin under a looser rule than its clean form, and odd but honest paths
// (`/a//b`, `/api/exchanges/%2F/amq.direct`) work as pages.
//
//	table, err := paths.Build(
//		paths.List[Class]{Name: "-assets", Entries: "/css/*,/js/*", Value: Asset},
//		paths.List[Class]{Name: "-ban-paths", Entries: "/.env,/.git/*", Value: Ban, Strict: true},
//	)
//	...
//	p := paths.Canonical(r.RequestURI)
//	if paths.Reserved(p) { ... }
//	class, listed := table.Lookup(p)
//
// # Readings
//
// Every origin decodes percent-escapes once. Beyond that each may or may not:
// decode again (or accept overlong UTF-8), separate at `%2F`, separate at a
// backslash, drop `;params`, end the path at a control character, end it at
// `#` or `?`, drop control characters, trim names as Windows does (trailing
// dots and spaces, `::$DATA`), merge slashes, and resolve dot segments. A
// reading is one choice of each, held for the whole path. [Path.Clean] is the
// reading that does all of it. Only what a path gives cause for is tried:
// almost all paths have one reading, and it is the path itself.
//
// Not covered are names an origin's file system invents (such as `GIT~1` for
// `.git` on Windows) and letters it folds beyond ASCII. They can dodge a ban
// path, which is no more than an unlisted path can; they cannot gain a loose
// class, because loose rules match the path as written.
//
// # Concurrency and cost
//
// [Path] and [Table] never change after they were made and may be shared. A
// path that is already clean is scanned once and not copied; it and its
// look-ups allocate nothing. The work on any other path is bounded: one that
// would take too many readings for its length is [Unreadable].
package paths
