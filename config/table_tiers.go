package config

import (
	"math"
	"strconv"
	"time"
)

func assetRows() []Setting {
	return []Setting{{
		Key: "bypass", Default: "/favicon.ico", Group: GroupAssets, Live: true,
		Help: "Paths that skip every guard.",
		bind: pathList(func(c *Config) *[]string { return &c.Bypass }),
	}, {
		Key: "assets", Group: GroupAssets, Live: true,
		Help: "Asset paths, served to holders of an admission pass only.",
		bind: pathList(func(c *Config) *[]string { return &c.Assets }),
	}, {
		Key: "asset_public", Group: GroupAssets, Live: true,
		Help: "Asset paths served without a pass, within -asset-cap.",
		bind: pathList(func(c *Config) *[]string { return &c.AssetPublic }),
	}, {
		Key: "asset_cap", Default: "0", Unit: "requests", Group: GroupAssets, Live: true,
		Help: "Most asset requests at the origin at once; 0 means -cap times -asset-user-cap-h2.",
		bind: whole(func(c *Config) *int { return &c.AssetCap }, 0, math.MaxInt32),
		effect: func(c *Config) string {
			if c.AssetCap > 0 {
				return ""
			}
			return strconv.Itoa(c.AssetSlots())
		},
	}, {
		Key: "asset_wait", Default: "2s", Group: GroupAssets, Live: true,
		Help: "How long an asset request waits for room under -asset-cap before it is answered 503; 0 does not wait.",
		bind: interval(func(c *Config) *time.Duration { return &c.AssetWait }, 0, day),
	}, {
		Key: "asset_user_cap_h1", Default: "8", Unit: "requests", Group: GroupAssets, Live: true,
		Help: "Most asset requests of one pass at once over HTTP/1.",
		bind: whole(func(c *Config) *int { return &c.AssetUserCapH1 }, 1, math.MaxInt32),
	}, {
		Key: "asset_user_cap_h2", Default: "128", Unit: "requests", Group: GroupAssets, Live: true,
		Help: "Most asset requests of one pass at once over HTTP/2 and HTTP/3.",
		bind: whole(func(c *Config) *int { return &c.AssetUserCapH2 }, 1, math.MaxInt32),
	}, {
		Key: "asset_user_wait", Default: "2s", Group: GroupAssets, Live: true,
		Help: "How long an asset request waits for room within its own pass before it is answered 429; 0 does not wait.",
		bind: interval(func(c *Config) *time.Duration { return &c.AssetUserWait }, 0, day),
	}}
}

func streamRows() []Setting {
	return []Setting{{
		Key: "stream_paths", Group: GroupStreams, Live: true,
		Help: "WebSocket and server-sent event paths, served outside the room to holders of an admission pass.",
		bind: pathList(func(c *Config) *[]string { return &c.StreamPaths }),
	}, {
		Key: "stream_cap", Default: "1000", Unit: "connections", Group: GroupStreams, Live: true,
		Help: "Most streams open at once.",
		bind: whole(func(c *Config) *int { return &c.StreamCap }, 1, math.MaxInt32),
	}, {
		Key: "stream_idle_timeout", Default: "1h", Group: GroupStreams, Live: true,
		Help: "How long a stream may be silent in both directions; 0 sets no limit.",
		bind: zeroOr(func(c *Config) *time.Duration { return &c.StreamIdleTimeout }, time.Second, 7*day),
	}}
}

func limitRows() []Setting {
	return []Setting{{
		Key: "read_header_timeout", Default: "10s", Group: GroupLimits,
		Help: "How long a client may take to send its request headers.",
		bind: interval(func(c *Config) *time.Duration { return &c.ReadHeaderTimeout }, time.Second, 10*time.Minute),
	}, {
		Key: "body_timeout", Default: "30s", Group: GroupLimits, Live: true,
		Help: "How long a client may pause in the middle of sending a request body.",
		bind: interval(func(c *Config) *time.Duration { return &c.BodyTimeout }, time.Second, time.Hour),
	}, {
		Key: "write_timeout", Default: "60s", Group: GroupLimits, Live: true,
		Help: "How long a client may pause in the middle of reading a response.",
		bind: interval(func(c *Config) *time.Duration { return &c.WriteTimeout }, time.Second, time.Hour),
	}, {
		Key: "idle_timeout", Default: "120s", Group: GroupLimits,
		Help: "How long a connection is kept open between two requests.",
		bind: interval(func(c *Config) *time.Duration { return &c.IdleTimeout }, time.Second, day),
	}, {
		Key: "shutdown_timeout", Default: "30s", Group: GroupLimits, Live: true,
		Help: "How long a stop waits for requests that are being served; 0 cuts them off.",
		bind: interval(func(c *Config) *time.Duration { return &c.ShutdownTimeout }, 0, time.Hour),
	}, {
		Key: "max_header_bytes", Default: "65536", Unit: "bytes", Group: GroupLimits,
		Help: "Largest request header; larger ones are answered 431.",
		bind: whole(func(c *Config) *int { return &c.MaxHeaderBytes }, 4096, 1<<20),
	}, {
		Key: "max_body_bytes", Default: "1073741824", Unit: "bytes", Group: GroupLimits, Live: true,
		Help: "Largest request body; larger ones are answered 413. 0 sets no limit.",
		bind: whole(func(c *Config) *int64 { return &c.MaxBodyBytes }, 0, 1<<50),
	}}
}

func logRows() []Setting {
	return []Setting{{
		Key: "access_log", Default: "true", Group: GroupLogs, Live: true,
		Help: "Write a line for every request, except those for assets and what waiting pages and monitors poll.",
		bind: flagged(func(c *Config) *bool { return &c.AccessLog }),
	}, {
		Key: "access_log_query", Default: "true", Group: GroupLogs, Live: true,
		Help: "Write the query strings of requests to the access log; they may hold what is nobody's business.",
		bind: flagged(func(c *Config) *bool { return &c.AccessLogQuery }),
	}, {
		Key: "log_format", Default: "text", Group: GroupLogs,
		Help: "How log lines are written. In json, durations are numbers of seconds.",
		bind: choice(func(c *Config) *LogFormat { return &c.LogFormat },
			option[LogFormat]{"text", TextLog}, option[LogFormat]{"json", JSONLog}),
	}}
}

func fileRows() []Setting {
	return []Setting{{
		Key: "data_dir", Default: "/var/lib/concert/data", Group: GroupFiles,
		Help: "Directory for changed settings, bans and the saved line; empty keeps everything in memory.",
		bind: checked(func(c *Config) *string { return &c.DataDir }, "a directory, or nothing", checkPath),
	}, {
		Key: "env_file", Group: GroupFiles, adds: true,
		Help: "Files of NAME=value lines whose variables replace those of the environment. They are read again on SIGHUP. The flag may be given several times.",
		bind: fileList(func(c *Config) *[]string { return &c.EnvFiles }),
	}}
}

func secretRows() []Setting {
	return []Setting{{
		Key: "admin_token", Group: GroupSecrets, Secret: true,
		Help: "Bearer token of the admin endpoints, which are off without it.",
		bind: token(func(c *Config) *Secret { return &c.AdminToken }),
	}, {
		Key: "admit_secret", Group: GroupSecrets, Secret: true,
		Help: "Keys for tickets and passes, separated by commas: the first signs, all verify. Without it a random key is made at every start, and passes do not survive a restart.",
		bind: keyList(func(c *Config) *Keys { return &c.AdmitSecrets }),
	}, {
		Key: "portal_pass", Group: GroupSecrets, Secret: true,
		Help: "Password of the operator portal, which is off without it.",
		bind: password(func(c *Config) *Secret { return &c.PortalPass }),
	}, {
		Key: "portal_viewer_pass", Group: GroupSecrets, Secret: true,
		Help: "Password with which the operator portal shows everything and changes nothing.",
		bind: password(func(c *Config) *Secret { return &c.PortalViewerPass }),
	}, redisRow()}
}
