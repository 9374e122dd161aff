// Package gate tests the examples of sites behind an off-site room: one in PHP,
// one in Node, one behind nginx. Each has its own folder; all take the
// environment of concert target-demo, and all go through the same walk.
package gate
