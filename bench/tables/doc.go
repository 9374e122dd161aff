// Package tables writes measurements into documents.
//
//	text, err = tables.Replace(text, "pages", report.String())
//	rows, err := tables.Benchmarks(ctx, "1s")
//
// A table stands between two comments, which stay:
//
//	<!-- measured: pages -->
//	…
//	<!-- end of pages -->
package tables
