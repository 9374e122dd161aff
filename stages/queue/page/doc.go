// Package page holds the waiting page: the built-in one, an operator's own in
// its place, and the farewell of somebody who left the line.
//
//	set, err := page.BuiltIn(page.Look{Name: "Café Nord"})
//	b = set.In(language.German).AppendGzip(b[:0], page.Values{Position: 12, Ahead: 11, ETA: 3 * time.Minute, PollAfter: 8 * time.Second})
//
// A page is cut at its placeholders once; rendering it for a visitor copies the
// pieces and the visitor's figures into a buffer. No template runs and nothing
// is allocated, for the page is sent to everyone while the crowd is largest.
// For AppendGzip the pieces are compressed once, up to byte boundaries, and the
// figures go between them in stored blocks.
//
// # The built-in page
//
// waiting.html, waiting.css and the scripts are assembled into one document that
// loads nothing else, under a Content-Security-Policy that names its style and
// script by their SHA-256. Whatever differs from visitor to visitor stands in
// data attributes, so that one policy fits all. All wording is in words/: one
// file for each language, with the same keys, and as many forms of what depends
// on a number as the language has.
//
// Programs recognise the page by two marks, which no other page carries: the
// path of the status endpoint, and `id="position">` before the place in line.
//
// # Concurrency and limits
//
// A Page never changes and is safe for concurrent use. The built-in page stays
// under maxBuiltIn bytes, and maxGzipped as sent; a test holds it to that.
package page
