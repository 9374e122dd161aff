// Package hosts tells which host names a server answers to.
//
//	set, err := hosts.Parse("shop.example,*.shop.example,192.0.2.7")
//	set.Has("Shop.Example:443")  // true
//	set.Has("evil.example")      // false
//
// A Host field is the client's to choose. An origin that builds links from it,
// or a portal that a browser can be tricked into addressing by a rebound name
// (DNS rebinding), is safe only if somebody checks it.
//
// A Set does not change after Parse, so all of it is safe for concurrent use.
// Asking allocates nothing.
package hosts
