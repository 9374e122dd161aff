package history

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/ipinfo"
)

// What is kept, and for how long.
const (
	MaxClients       = 4096
	EntriesPerClient = 100
	MaxBans          = 5000
	Keep             = 72 * time.Hour // after a client's last request, after a ban's end

	maxFlagged  = MaxClients / 4 * 3 // clients that were banned
	maxAgents   = 4                  // user agents of one client
	maxPerBan   = 100                // paths, and clients, of one ban that are told apart
	maxBanPaths = 100_000            // paths of all bans together that are told apart
)

// The file.
const (
	MaxFileBytes = 64 << 20 // of each file
	olderFiles   = 4        // beside the one that is written
	SingleLines  = 100      // lines of one client during one ban before they are aggregated

	queueLength = 16_384
	flushEvery  = time.Second
	retryAfter  = 10 * time.Second // a failed write
)

// Settings can be changed while a History is in use.
type Settings struct {
	// On records requests; off keeps what is there.
	On bool
	// Query keeps the query strings of paths.
	Query bool
	// MaskAfter is the age from which addresses are cut to a /24 (IPv4) or /48
	// (IPv6), in memory and in the files; 0 is never.
	MaskAfter time.Duration
}

// Options are what a History is made of.
type Options struct {
	Settings
	// File is the name of the log; "" keeps everything in memory.
	File string
	// Details says who owns an address; nil leaves that out. It is
	// never asked on the way of a request.
	Details ipinfo.Source
	// InForce are the bans that hold already.
	InForce []Ban
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger

	maxFile int64 // MaxFileBytes, but for tests
}

// Ban is a ban as the registry knows it.
type Ban struct {
	Target netip.Prefix // a client's key or a range, host bits masked
	Since  time.Time
	Until  time.Time // zero: permanent
	Source string    // what or who started it
}
