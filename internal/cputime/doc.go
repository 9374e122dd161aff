// Package cputime says how much processor time this process has used.
//
//	before, err := cputime.Used()
//	work()
//	after, _ := cputime.Used()
//
// It is all that its threads had, in the program and in the kernel, the garbage
// collector's included. It is told on Linux only, at the price of one system call.
package cputime
