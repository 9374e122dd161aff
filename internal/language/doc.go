// Package language knows the languages that Concert speaks to visitors: their
// codes, which of them a browser asks for, and their plurals.
//
//	l := language.Negotiate(r.Header["Accept-Language"])
//	text := texts[l]
//
// A Language indexes arrays of Count elements. Nothing here allocates, for it
// runs for every visitor of a crowd.
package language
