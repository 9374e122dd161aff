// Package blackbox looks at the built Concert binary from outside: it runs as a
// process of its own, between scripted or real origins and raw or real clients.
// All of it is in tests:
//
//	go test ./blackbox/...
//
// A test starts Concert with [launch.Start] by way of the harness, which also
// fails the test when Concert's log holds a panic, a BUG or a data race. Real
// programs (nginx, PHP, Redis, a browser and others) are skipped where they are not
// installed, save under CI=true, where a missing one is a failure; .ci/deps
// installs them.
//
// [launch.Start]: https://pkg.go.dev/github.com/andreimerlescu/concert/blackbox/launch#Start
package blackbox
