// Package ipinfo says who owns an address: country, autonomous system, network
// range, and the address in the IPv8 notation of draft-thain-ipv8-02.
//
// # Usage
//
//	info, err := ipinfo.New(ipinfo.Config{Data: "ip2asn-combined.tsv.gz", Poll: 30 * time.Second})
//	go info.Run(ctx)
//	if d, ok := info.Lookup(addr); ok {
//		fmt.Println(d.Flag(), d.Country(), d.ASNText(), d.Description, d.Range())
//	}
//
// [Source] is all that the rest of Concert knows. There are two of them: [File]
// holds an IPtoASN database in memory and answers from it, and [Remote] asks a
// naddr service over HTTP and answers from what it has heard. [Service] prefers
// the first and falls back on the second; without either it knows nothing, and
// nothing else changes.
//
// # The database
//
// [ReadTable] takes the IPtoASN combined database, plain or gzip: first address,
// last address, AS number, country and description, separated by tabs, each
// family sorted. A file is taken whole or not at all, so a half-written one
// never answers. [File] loads a changed file once it has stayed unchanged for
// one poll, keeps the old data when that fails, and tries a file that cannot be
// loaded again every minute.
//
// # Concurrency and limits
//
// Everything here is safe for concurrent use. Lookup never waits: not for the
// disk and not for the network. A look-up in a [Table] is a binary search over
// sorted arrays without pointers and allocates nothing. A table holds at most
// [MaxRows] ranges; a [Remote] remembers at most 65,536 addresses, has at most 8
// questions open and 1,024 waiting, and drops what is beyond.
package ipinfo
