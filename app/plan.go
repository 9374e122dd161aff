package app

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/certs"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/listener"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/assets"
	"github.com/andreimerlescu/concert/stages/ban"
	"github.com/andreimerlescu/concert/stages/classify"
	"github.com/andreimerlescu/concert/stages/operations"
	"github.com/andreimerlescu/concert/stages/pass"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/queue"
	"github.com/andreimerlescu/concert/stages/queue/page"
	"github.com/andreimerlescu/concert/stages/skip"
	"github.com/andreimerlescu/concert/stages/stream"
)

// plan is a configuration translated for each part, checked as a whole before
// any part is told of it.
type plan struct {
	cfg      *config.Config
	line     line.Settings
	abuse    abuse.Config
	ban      ban.Config
	classify classify.Config
	pass     pass.Config
	priority priority.Config
	skip     skip.Config
	queue    queue.Config
	rooms    []roomPlan
	assets   assets.Config
	stream   stream.Config
	proxy    *proxy
	certs    *certs.Plan
}

// plan translates c. The error joins everything that is wrong with it.
func (a *App) plan(c *config.Config) (*plan, error) {
	p := &plan{cfg: c, line: lineSettings(c), abuse: abuseConfig(c), assets: a.assetConfig(c), stream: a.streamConfig(c)}
	p.classify.ProtoHeader, p.classify.Hosts = c.ClientProtoHeader, c.AllowedHosts
	p.ban.Ticket = &http.Cookie{Name: queue.TicketCookie, Path: c.CookiePath, Domain: c.CookieDomain,
		Secure: c.SecureCookie, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if !c.Rooms.Empty() {
		p.classify.Rooms = c.Rooms
	}
	var errs [10]error
	p.classify.Table, errs[0] = c.PathTable()
	p.ban.Paths, errs[1] = c.BanTable()
	errs[2] = a.planPass(p)
	errs[3] = a.planQueue(p)
	errs[4] = a.planPriority(p)
	errs[5] = a.planSkip(p)
	p.proxy, errs[6] = a.proxies.plan(proxyConfig(c, a.log))
	errs[7] = a.tryStages(p)
	p.certs, errs[8] = a.certs.Plan(c.Certificates())
	errs[9] = a.planRooms(p)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("plan the configuration: %w", err)
	}
	return p, nil
}

// tryStages builds stages that are thrown away: what they refuse here, Apply
// would refuse half way.
func (a *App) tryStages(p *plan) error {
	if p.pass.Keyring == nil || p.queue.Tickets == nil {
		return nil // reported already
	}
	_, err := a.newStages(p)
	return err
}

func (a *App) planPass(p *plan) (err error) {
	c := p.cfg
	p.pass = pass.Config{TTL: c.AdmitTTL, CookiePath: c.CookiePath, CookieDomain: c.CookieDomain, CookieSecure: c.SecureCookie}
	p.pass.Keyring, err = signed.NewKeyring(c.AdmitSecrets, pass.Purpose)
	return err
}

func (a *App) planQueue(p *plan) (err error) {
	c := p.cfg
	p.queue = queue.Config{
		Line: a.line, TicketTTL: c.TicketTTL(),
		Settled:    a.loaded != nil && a.loaded.Origins["admit_secret"] != config.FromDefault,
		CookiePath: c.CookiePath, CookieDomain: c.CookieDomain, CookieSecure: c.SecureCookie,
		APIJSON: c.APIJSON, RetryAfter: c.RetryAfter, StatusCode: c.QueueStatusCode, HTML: c.HTML.Content,
		Look:     page.Look{Name: c.BrandName, Logo: c.BrandLogo.Content, Color: c.BrandColor, Warning: c.MessageWarning},
		Admitted: a.requests.Wait.Observe,
	}
	if a.portal != nil {
		p.queue.Placed, p.queue.Removed = a.portal.Placed, a.portal.Removed
	}
	if c.QueuePerClient > 0 {
		p.queue.Unlimited = a.abuse.Exempt
	}
	if c.CrawlersWait {
		p.queue.CrawlerAnswer = queue.CrawlersWait
	}
	if p.queue.Look.Message, err = notice.Parse(c.Message); err != nil {
		return fmt.Errorf("message %w", err)
	}
	p.queue.Tickets, err = signed.NewKeyring(c.AdmitSecrets, queue.TicketPurpose)
	return err
}

func (a *App) pipelineConfig(p *plan) pipeline.Config {
	observers := []pipeline.Observer{a.requests, a.history, resets{}}
	if p.cfg.AccessLog && a.options.AccessLog != nil {
		observers = append(observers, accessLog{a.options.AccessLog, p.cfg.AccessLogQuery})
	}
	var origin pipeline.Origin = p.proxy
	if a.options.Origin != nil {
		origin = a.options.Origin
	}
	origin = secured{origin, &a.hsts}
	token := operations.NewTokenCheck(string(p.cfg.AdminToken))
	return pipeline.Config{
		Resolver:  clientip.NewResolver(p.cfg.TrustedProxies),
		Origin:    origin,
		Renderer:  pipeline.NewRenderer(a.options.Texts).Announcing(p.queue.Look.Message),
		Observers: observers,
		Strikes:   a.strike,
		Debug:     func(r *http.Request) bool { return token.Matches(r.Header.Get(pipeline.DebugHeader)) },
		Log:       a.log,

		WriteTimeout: p.cfg.WriteTimeout,
		Plain:        listener.Plain,
	}
}

// lineSettings is the part of the configuration that the line goes by.
func lineSettings(c *config.Config) line.Settings {
	return line.Settings{
		Policy:         line.Policy{Cap: c.Cap, Inflow: c.Inflow, Interval: c.InflowInterval, Burst: c.Burst()},
		Mode:           c.Room,
		MaxWaiting:     c.MaxQueue,
		PerClient:      c.QueuePerClient,
		RankLead:       rankLead(c),
		TTL:            c.TicketTTL(),
		FirstPollGrace: c.FirstPollGrace,
		Sweep:          c.Reaper,
		DoorMax:        c.DoorMax,
		DoorWait:       c.DoorWait,
	}
}

func abuseConfig(c *config.Config) abuse.Config {
	return abuse.Config{
		Enabled: c.Abuse, Strikes: c.AbuseStrikes, Window: c.AbuseWindow,
		Cooldown: c.AbuseCooldown, MaxCooldown: c.AbuseMaxCooldown, MaxEntries: c.AbuseMaxEntries,
		Allow: c.AbuseAllow, Proxies: c.TrustedProxies,
	}
}

// assetConfig leaves a predecessor the slots that it still needs, but one.
func (a *App) assetConfig(c *config.Config) assets.Config {
	global := max(1, c.AssetSlots()-a.left.Assets)
	return assets.Config{
		Caps:     assets.Caps{UserH1: c.AssetUserCapH1, UserH2: c.AssetUserCapH2, Global: global},
		UserWait: c.AssetUserWait, GlobalWait: c.AssetWait, IdleTTL: c.AdmitTTL,
	}
}

// streamConfig does the same for streams.
func (a *App) streamConfig(c *config.Config) stream.Config {
	return stream.Config{Cap: max(1, c.StreamCap-a.left.Streams)}
}
