package config

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/hosts"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/listener"
)

// day is the upper bound of durations that have no natural one.
const day = 24 * time.Hour

func listeningRows() []Setting {
	return []Setting{{
		Key: "listen", Default: ":8080", Group: GroupListening,
		Help: "Address to listen on.",
		bind: checked(func(c *Config) *string { return &c.Listen }, "host:port or :port", checkListen),
	}, {
		Key: "allowed_hosts", Group: GroupListening, Live: true,
		Help: "Host names the site goes by, *.name for all below one. Requests for others get 421. Empty takes every name.",
		bind: hostList(func(c *Config) **hosts.Set { return &c.AllowedHosts }),
	}, {
		Key: "trusted_proxies", Default: "127.0.0.1/32,::1/128", Group: GroupListening, Live: true,
		Help: "Proxies in front of Concert, whose X-Forwarded-For and X-Forwarded-Proto are believed.",
		bind: trustList(func(c *Config) **clientip.Trust { return &c.TrustedProxies }),
	}, {
		Key: "client_proto_header", Group: GroupListening, Live: true,
		Help: "Header in which a trusted TLS terminator reports the client's HTTP protocol.",
		bind: headerName(func(c *Config) *string { return &c.ClientProtoHeader }),
	}, {
		Key: "proxy_protocol", Default: "false", Group: GroupListening, Live: true,
		Help: "Have connections from -trusted-proxies begin with a PROXY header, version 1 or 2, and go by the address in it. Such a peer's connection without the header is closed.",
		bind: flagged(func(c *Config) *bool { return &c.ProxyProtocol }),
	}, {
		Key: "max_conns", Default: "0", Unit: "connections", Group: GroupListening, Live: true,
		Help: "Most connections at once; 0 means about half the limit of open files. At that many, connections that only wait are closed to make room, those of whoever has most first.",
		bind: whole(func(c *Config) *int { return &c.MaxConns }, 0, math.MaxInt32),
		effect: func(c *Config) string {
			if room := listener.Room(); c.MaxConns == 0 && room > 0 {
				return strconv.Itoa(room)
			}
			return ""
		},
	}, {
		Key: "max_conns_per_client", Default: "0", Unit: "connections", Group: GroupListening, Live: true,
		Help: "Most connections that one IPv4 address or IPv6 /64 may hold; 0 sets no limit. Addresses in -trusted-proxies and -abuse-allow, which many people may share, are not counted.",
		bind: whole(func(c *Config) *int { return &c.MaxConnsPerClient }, 0, math.MaxInt32),
	}}
}

func originRows() []Setting {
	return []Setting{{
		Key: "upstream", Default: "http://127.0.0.1:3000", Group: GroupOrigin, Live: true,
		Help: "Origin to protect. A path in the URL goes before the path of every request. With h2c HTTP/2 is spoken without TLS.",
		bind: origin(func(c *Config) **url.URL { return &c.Upstream }),
	}, {
		Key: "preserve_host", Default: "true", Group: GroupOrigin, Live: true,
		Help: "Send the client's Host header to the origin instead of the origin's own.",
		bind: flagged(func(c *Config) *bool { return &c.PreserveHost }),
	}, {
		Key: "upstream_timeout", Default: "30s", Group: GroupOrigin, Live: true,
		Help: "How long to wait for the origin's response headers; 0 waits for ever.",
		bind: interval(func(c *Config) *time.Duration { return &c.UpstreamTimeout }, 0, day),
	}, {
		Key: "upstream_idle_timeout", Default: "60s", Group: GroupOrigin, Live: true,
		Help: "How long the origin may pause in the middle of a response body; 0 sets no limit.",
		bind: zeroOr(func(c *Config) *time.Duration { return &c.UpstreamIdleTimeout }, time.Second, day),
	}}
}

func roomRows() []Setting {
	return slices.Concat(admissionRows(), lineRows(), inlineRows())
}

func admissionRows() []Setting {
	return []Setting{{
		Key: "cap", Env: "CONCERT_CAPACITY", Default: "434", Unit: "page requests", Group: GroupRoom, Live: true,
		Help: "Most page requests at the origin at once.",
		bind: whole(func(c *Config) *int { return &c.Cap }, 1, math.MaxInt32),
	}, {
		Key: "max_queue", Default: "369", Unit: "visitors", Group: GroupRoom, Live: true,
		Help: "Answer new arrivals with 503 once this many visitors wait; 0 sets no limit. Set it to -cap or more, or short bursts are turned away.",
		bind: whole(func(c *Config) *int { return &c.MaxQueue }, 0, math.MaxInt32),
	}, {
		Key: "queue_per_client", Default: "0", Unit: "places", Group: GroupRoom, Live: true,
		Help: "Most places in line that one IPv4 address or IPv6 /64 may hold; 0 sets no limit. Addresses in -abuse-allow, which many people may share, are not counted.",
		bind: whole(func(c *Config) *int { return &c.QueuePerClient }, 0, math.MaxInt32),
	}, {
		Key: "room", Default: "open", Group: GroupRoom, Live: true,
		Help: "open lets visitors in; paused gives out places and lets nobody in; closed does neither.",
		bind: choice(func(c *Config) *line.Mode { return &c.Room }, named(line.Modes...)...),
	}, {
		Key: "inflow", Default: "0", Unit: "admissions", Group: GroupRoom, Live: true,
		Help: "Most admissions in each -inflow-interval, beside the limit of -cap; 0 sets no rate.",
		bind: whole(func(c *Config) *int { return &c.Inflow }, 0, 1_000_000),
	}, {
		Key: "inflow_interval", Default: "1s", Group: GroupRoom, Live: true,
		Help: "The interval that -inflow counts in.",
		bind: interval(func(c *Config) *time.Duration { return &c.InflowInterval }, 100*time.Millisecond, time.Hour),
	}, {
		Key: "inflow_burst", Default: "0", Unit: "admissions", Group: GroupRoom, Live: true,
		Help: "Most admissions at one moment under -inflow; 0 means as many as -inflow.",
		bind: whole(func(c *Config) *int { return &c.InflowBurst }, 0, 1_000_000),
		effect: func(c *Config) string {
			if c.Inflow == 0 || c.InflowBurst > 0 {
				return ""
			}
			return strconv.Itoa(c.Burst())
		},
	}}
}

func lineRows() []Setting {
	return []Setting{{
		Key: "token_ttl", Default: "0", Group: GroupRoom, Live: true,
		Help: "How long a place in line is kept after its visitor was last seen; 0 means 5m.",
		bind: zeroOr(func(c *Config) *time.Duration { return &c.TokenTTL }, 30*time.Second, day),
		effect: func(c *Config) string {
			if c.TokenTTL > 0 {
				return ""
			}
			return FormatDuration(c.TicketTTL())
		},
	}, {
		Key: "first_poll_grace", Default: "30s", Group: GroupRoom, Live: true,
		Help: "How long a new place is kept for a visitor who is never seen again, at least twice -retry-after; 0 means as long as any other.",
		bind: zeroOr(func(c *Config) *time.Duration { return &c.FirstPollGrace }, 10*time.Second, day),
	}, {
		Key: "reaper", Default: "36s", Group: GroupRoom, Live: true,
		Help: "How often places whose time is over are removed.",
		bind: interval(func(c *Config) *time.Duration { return &c.Reaper }, 5*time.Second, day),
	}, {
		Key: "door_wait", Default: "3s", Group: GroupRoom, Live: true,
		Help: "How long a request may be held at the door beyond the time its turn was expected; after that its visitor gets the waiting page and keeps the place.",
		bind: interval(func(c *Config) *time.Duration { return &c.DoorWait }, 0, time.Minute),
	}, {
		Key: "door_max", Default: "4096", Unit: "requests", Group: GroupRoom, Live: true,
		Help: "Most requests held at the door at once; 0 holds none.",
		bind: whole(func(c *Config) *int { return &c.DoorMax }, 0, 65536),
	}}
}

func pageRows() []Setting {
	return []Setting{{
		Key: "html", Env: "CONCERT_HTML_FILE", Group: GroupPage, Live: true,
		Help: "HTML file to show as the waiting page instead of the built-in one.",
		bind: file(func(c *Config) *File { return &c.HTML }),
	}, {
		Key: "pages_dir", Group: GroupPage,
		Help: "Directory of the .html files that may become -html while Concert runs. Without it, only the flag and the variable choose the page: whoever may change settings must not be able to publish any file.",
		bind: checked(func(c *Config) *string { return &c.PagesDir }, "a directory, or nothing", checkPath),
	}, {
		Key: "queue_status_code", Default: "200", Group: GroupPage, Live: true,
		Help: "HTTP status of the waiting page.",
		bind: choice(func(c *Config) *int { return &c.QueueStatusCode },
			option[int]{"200", 200}, option[int]{"202", 202}, option[int]{"429", 429}, option[int]{"503", 503}),
	}, {
		Key: "api_json", Default: "true", Group: GroupPage, Live: true,
		Help: "Answer clients that are not browsers with a JSON 429 instead of the waiting page.",
		bind: flagged(func(c *Config) *bool { return &c.APIJSON }),
	}, {
		Key: "retry_after", Default: "5", Unit: "seconds", Group: GroupPage, Live: true,
		Help: "Retry-After sent to clients that have to wait.",
		bind: seconds(func(c *Config) *time.Duration { return &c.RetryAfter }, 1, 3600),
	}}
}

func cookieRows() []Setting {
	return []Setting{{
		Key: "secure_cookie", Default: "false", Group: GroupCookies, Live: true,
		Help: "Mark cookies Secure. Set it only if browsers reach the site over HTTPS.",
		bind: flagged(func(c *Config) *bool { return &c.SecureCookie }),
	}, {
		Key: "cookie_path", Default: "/", Group: GroupCookies, Live: true,
		Help: "Path attribute of cookies. With any other than / browsers send the ticket to pages or to /queue/status but not to both, and nobody who waits gets in.",
		bind: checked(func(c *Config) *string { return &c.CookiePath },
			"a path that starts with / and holds only printable ASCII, no semicolon", checkCookiePath),
	}, {
		Key: "cookie_domain", Group: GroupCookies, Live: true,
		Help: "Domain attribute of cookies.",
		bind: checked(func(c *Config) *string { return &c.CookieDomain }, "a domain name, or nothing", checkCookieDomain),
	}, {
		Key: "admit_ttl", Default: "10m", Group: GroupCookies, Live: true,
		Help: "How long an admission pass lasts after it was last renewed.",
		bind: interval(func(c *Config) *time.Duration { return &c.AdmitTTL }, 30*time.Second, 365*day),
	}}
}
