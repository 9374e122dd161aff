// Package operations answers Concert's own paths under /_room from one table
// of routes.
//
// # Usage
//
//	s, err := operations.New(operations.Config{Token: token, Routes: routes})
//
// A [Route] names a path, its methods and whether it takes the admin token.
// Every spelling of a path under /_room and every method is answered here, so
// none of them reaches the origin. Paths of another stage (/queue/…) pass by.
//
// # Concurrency and limits
//
// A Stage is immutable and safe for concurrent use. Request bodies are bounded
// by [MaxBody].
package operations
