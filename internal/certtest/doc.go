// Package certtest makes certificates for tests: an authority of the test's
// own, and what it certifies, in memory and as files.
//
//	ca := certtest.New(t)
//	pair := ca.Issue(t, certtest.Names("example.test"))
//	certFile, keyFile := pair.Write(t, dir, "site")
//	client.RootCAs = ca.Pool()
//
// Nothing of it is safe, or meant to be.
package certtest
