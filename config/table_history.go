package config

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/ipinfo"
)

// historyOff as the history log keeps everything in memory, and so do the
// other words for it: nobody means a file by them.
const historyOff = "off"

func noFile(name string) bool {
	switch strings.ToLower(name) {
	case historyOff, "none", "false", "0":
		return true
	}
	return false
}

func historyRows() []Setting {
	return []Setting{{
		Key: "history", Default: "true", Group: GroupHistory, Live: true,
		Help: "Remember the last requests of each client and every ban, for the portal and for /_room/history.",
		bind: flagged(func(c *Config) *bool { return &c.History }),
	}, {
		Key: "history_log", Group: GroupHistory,
		Help: "File for the history, so that it outlives a restart; empty is history.jsonl in -data-dir, off keeps it in memory.",
		bind: checked(func(c *Config) *string { return &c.HistoryLog }, "a file name, off, or nothing", checkPath),
		effect: func(c *Config) string {
			if c.HistoryLog != "" {
				return ""
			}
			if c.HistoryFile() == "" {
				return historyOff
			}
			return c.HistoryFile()
		},
	}, {
		Key: "history_query", Default: "true", Group: GroupHistory, Live: true,
		Help: "Keep the query strings of paths in the history.",
		bind: flagged(func(c *Config) *bool { return &c.HistoryQuery }),
	}, {
		Key: "history_mask_after", Default: "0", Group: GroupHistory, Live: true,
		Help: "Age from which addresses in the history are cut to a /24 (IPv4) or /48 (IPv6); 0 keeps them whole.",
		bind: zeroOr(func(c *Config) *time.Duration { return &c.HistoryMaskAfter }, time.Hour, 7*day),
	}, {
		Key: "naddr_data", Env: "NADDR_DATA", Group: GroupHistory,
		Help: "IPtoASN database for IP details, plain or gzip. Concert never downloads it.",
		bind: checked(func(c *Config) *string { return &c.NaddrData }, "a file name, or nothing", checkPath),
	}, {
		Key: "naddr_data_poll", Env: "NADDR_DATA_POLL", Default: "30s", Group: GroupHistory,
		Help: "How often the IPtoASN database is looked at for changes; off or 0 does not reload it.",
		bind: offOr(func(c *Config) *time.Duration { return &c.NaddrDataPoll }, time.Second, day),
	}, {
		Key: "naddr_addr", Env: "NADDR_ADDR", Group: GroupHistory,
		Help: "A naddr service for IP details, asked while there is no IPtoASN database to answer from.",
		bind: checked(func(c *Config) *string { return &c.NaddrAddr }, "host:port, a URL, or nothing", checkService),
	}}
}

// HistoryFile is the name of the history log, "" when there is none.
func (c *Config) HistoryFile() string {
	switch {
	case noFile(c.HistoryLog), c.HistoryLog == "" && c.DataDir == "":
		return ""
	case c.HistoryLog == "":
		return filepath.Join(c.DataDir, "history.jsonl")
	}
	return c.HistoryLog
}

// checkService accepts what package ipinfo can ask.
func checkService(addr string) error {
	if addr == "" {
		return nil
	}
	u, err := ipinfo.ParseServiceURL(addr)
	if err != nil {
		return misfit("")
	}
	if u.User != nil {
		return misfit("leave out user and password, which would show wherever settings are shown")
	}
	return nil
}

// offOr is a duration from lo to hi, or off, which is zero.
func offOr(at func(*Config) *time.Duration, lo, hi time.Duration) binding {
	b := durations(at, lo, hi, "off, 0 or a duration from ", true).(bound[time.Duration])
	parse := b.parse
	b.parse = func(text string) (time.Duration, error) {
		if text == "off" {
			return 0, nil
		}
		return parse(text)
	}
	return b
}
