package config

import (
	"math"
	"net/url"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/hosts"
	"github.com/andreimerlescu/concert/line"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/rooms"
)

// Config is the complete, checked configuration of one Concert. Each field is
// bound to exactly one row of the table, whose help text says what it means;
// the comments here add what a Go reader needs beside it.
type Config struct {
	Listen         string     // TCP address, as net.Listen takes it
	AllowedHosts   *hosts.Set // empty: every host
	TrustedProxies *clientip.Trust
	// ClientProtoHeader is in canonical form; "" turns the feature off.
	ClientProtoHeader string
	ProxyProtocol     bool
	HTTP3             bool
	MaxConns          int // 0: as many as there are descriptors for
	MaxConnsPerClient int // 0: no limit

	TLSDomains     []string // in the form of certs.Name
	TLSEmail       string   // "": none
	TLSCache       string
	TLSStaging     bool
	TLSDirectory   string // "": Let's Encrypt's
	TLSDirectoryCA File
	TLSEABID       string // "": none
	TLSCert        []string
	TLSKey         []string      // as many as TLSCert
	TLSHTTPListen  string        // TCP address; "": none
	HSTS           time.Duration // 0: none
	HSTSSubdomains bool

	Upstream            *url.URL // http, https or h2c, with a host, without query or fragment
	PreserveHost        bool
	UpstreamTimeout     time.Duration // 0: none
	UpstreamIdleTimeout time.Duration // 0: none

	Cap            int
	MaxQueue       int // 0: no limit
	QueuePerClient int // 0: no limit
	Inflow         int // 0: no rate limit
	InflowInterval time.Duration
	InflowBurst    int // 0: see Burst
	Room           line.Mode
	Rooms          *rooms.Set // beside the default room

	Reaper         time.Duration
	TokenTTL       time.Duration // 0: see TicketTTL
	FirstPollGrace time.Duration // 0: off
	DoorWait       time.Duration
	DoorMax        int

	QueueStatusCode int // 200, 202, 429 or 503
	RetryAfter      time.Duration
	APIJSON         bool
	HTML            File
	PagesDir        string // "": HTML cannot be changed while Concert runs
	Message         string // as notice.Parse takes it
	MessageWarning  bool
	BrandName       string
	BrandLogo       File
	BrandColor      string // "" or as branding.ParseColor takes it
	CrawlersWait    bool

	SecureCookie bool
	CookiePath   string
	CookieDomain string
	AdmitTTL     time.Duration

	Bypass         []string
	Assets         []string
	AssetPublic    []string
	AssetCap       int // 0: see AssetSlots
	AssetWait      time.Duration
	AssetUserCapH1 int
	AssetUserCapH2 int
	AssetUserWait  time.Duration

	StreamPaths       []string
	StreamCap         int
	StreamIdleTimeout time.Duration // 0: none

	PriorityCap      int // 0: see priority.LaneSlots
	PriorityLaneRank int // 1 to 7
	PriorityWait     time.Duration
	PriorityForms    bool
	FormHold         time.Duration // 0: no longer than PriorityWait
	RankOrder        bool

	Rate         float64 // both 0: nothing is for sale
	Surge        float64
	SkipURL      string        // "" or safe within an HTML attribute, but for &
	PassDuration time.Duration // 0: none are given out

	Abuse            bool
	AbuseStrikes     int
	AbuseWindow      time.Duration
	AbuseCooldown    time.Duration
	AbuseMaxCooldown time.Duration
	AbuseMaxEntries  int
	AbuseAllow       *clientip.Trust
	BanPaths         []string

	ReadHeaderTimeout time.Duration
	BodyTimeout       time.Duration
	WriteTimeout      time.Duration
	IdleTimeout       time.Duration
	ShutdownTimeout   time.Duration
	MaxHeaderBytes    int
	MaxBodyBytes      int64 // 0: no limit

	AccessLog      bool
	AccessLogQuery bool
	LogFormat      LogFormat

	History          bool
	HistoryLog       string // see HistoryFile
	HistoryQuery     bool
	HistoryMaskAfter time.Duration // 0: never
	NaddrData        string        // "": none
	NaddrDataPoll    time.Duration // 0: off
	NaddrAddr        string        // "": none

	PortalListen       string // TCP address, as net.Listen takes it; "": no portal
	PortalAllow        *clientip.Trust
	PortalHosts        []string // in lower case, without ports
	PortalSessionTTL   time.Duration
	PortalSecureCookie bool

	GateListen      string // "": no off-site rooms
	GateAdminListen string // "": no API for their operators
	GateKeys        string // see GateKeysFile
	GateJoins       int    // per minute; 0: no limit
	GateRequests    int    // per second; 0: no limit

	RedisURL  Secret // "": the line is this process's own
	RedisRoom string
	RedisDown redisline.Policy
	Instance  string // "": see InstanceName

	DataDir  string   // "": everything stays in memory
	EnvFiles []string // their variables are part of the environment

	TLSEABKey        Secret // base64url, as certs.EABKey takes it; empty with TLSEABID
	AdminToken       Secret // empty: the admin endpoints are off
	PortalPass       Secret // empty: the portal is off
	PortalViewerPass Secret // empty: nobody signs in to look only
	AdmitSecrets     Keys   // for signed.NewKeyring: the first signs, all verify
}

// Default returns the configuration in which nothing was set. Its one admit
// secret is random, so what it signs ends with the process.
func Default() *Config { return defaults(randomKeys()) }

func defaults(keys Keys) *Config {
	c := &Config{AdmitSecrets: keys}
	for _, s := range Settings() {
		if s.Secret {
			continue
		}
		if err := s.bind.set(c, s.Default); err != nil {
			panic("BUG: default of " + s.Key + ": " + err.Error())
		}
	}
	return c
}

// TicketTTL is the sliding lifetime of a ticket: TokenTTL, or five minutes.
func (c *Config) TicketTTL() time.Duration {
	if c.TokenTTL == 0 {
		return 5 * time.Minute
	}
	return c.TokenTTL
}

// AssetSlots is the size of the global asset pool: AssetCap, or the product
// of Cap and AssetUserCapH2 as far as it fits a 32-bit integer.
func (c *Config) AssetSlots() int {
	if c.AssetCap > 0 {
		return c.AssetCap
	}
	return int(min(int64(c.Cap)*int64(c.AssetUserCapH2), math.MaxInt32))
}

// Burst is the most admissions at once under a rate: InflowBurst, or Inflow.
func (c *Config) Burst() int {
	if c.InflowBurst > 0 {
		return c.InflowBurst
	}
	return c.Inflow
}

// UpstreamName is the origin's URL without credentials, for logs and stats.
func (c *Config) UpstreamName() string { return redactUserinfo(c.Upstream.String()) }

// Validate reports everything that is wrong with c, one [Problem] each,
// joined. A Config that Load returned has passed it.
func (c *Config) Validate() error {
	v := validator{name: func(s Setting) string { return s.name(FromFlag) }}
	for _, s := range Settings() {
		if err := s.bind.check(c); err != nil {
			v.reject(s, s.name(FromFlag), s.bind.text(c), err)
		}
	}
	v.crossCheck(c, true)
	return v.err()
}
