// Package pages takes the Markdown pages of the repository apart, for the tests
// that hold them to what they say.
//
// A code block is fenced, and its first words say what it is: a language, and
// for commands, which are sh, how they are to be run:
//
//	sh              to their end, beside a Concert with people in line
//	sh refused: …   the same, where to be refused is the point
//	sh gate         to their end, beside off-site rooms
//	sh serve        until what they start answers
//	sh check: …     by concert check, as something is missing here to serve
//	sh norun: …     not at all
//
// What follows the colon is the reason, for the reader of the page's source.
package pages
