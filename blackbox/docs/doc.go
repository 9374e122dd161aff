// Package docs proves the documentation: every command in a Markdown page is
// run, or says why it is not. All of it is in tests:
//
//	go test ./blackbox/docs
//
// How a block is to be run is in the words of its fence; package internal/pages
// lists them, and the house rules see that none says nothing.
//
// Commands in running text are run, too, if they are about a Concert that runs.
// Addresses and files of the pages are replaced by those of the test.
package docs
