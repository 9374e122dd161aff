// Package fuzz holds fuzz targets that go through several packages at once.
// Targets of one package stand beside it.
//
//	go test ./fuzz                                     # seeds only
//	go test ./fuzz -run '^$' -fuzz FuzzRequest         # one target, until stopped
//	make fuzz                                          # every target of the project in turn
package fuzz
