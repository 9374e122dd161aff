package queue

import "strings"

// CrawlerAnswer is what search crawlers get while the site is busy.
type CrawlerAnswer uint8

const (
	// CrawlersComeBack tells crawlers to come back later: 503 with Retry-After,
	// which search engines take for what it is. They never take a place.
	CrawlersComeBack CrawlerAnswer = iota
	// CrawlersWait treats crawlers like everybody else.
	CrawlersWait
)

// robot is a kind of client that no person sits at.
type robot uint8

const (
	nobot   robot = iota
	looker        // fetches a page once, for a preview of a link or to see that it is up
	crawler       // indexes the site
)

// robots are the names by which robots call themselves in User-Agent, as their
// operators publish them.
var robots = [...]struct {
	kind  robot
	names []string
}{
	{crawler, []string{
		"Googlebot", "Storebot-Google", "Google-InspectionTool", "GoogleOther", "Google-Extended", "AdsBot-Google", "bingbot", "msnbot", "adidxbot",
		"DuckDuckBot", "DuckAssistBot", "Slurp", "YandexBot", "YandexImages", "Baiduspider", "Sogou", "Yeti", "PetalBot", "SeznamBot", "Qwantbot",
		"MojeekBot", "Applebot", "Amazonbot", "GPTBot", "OAI-SearchBot", "ClaudeBot", "PerplexityBot", "CCBot", "Bytespider", "meta-externalagent",
		"archive.org_bot", "ia_archiver", "AhrefsBot", "SemrushBot", "MJ12bot", "DotBot", "DataForSeoBot",
	}},
	{looker, []string{ // previews of links
		"facebookexternalhit", "facebookcatalog", "Facebot", "meta-externalfetcher", "Twitterbot", "LinkedInBot", "Slackbot", "Slack-ImgProxy", "Discordbot",
		"TelegramBot", "WhatsApp", "SkypeUriPreview", "BingPreview", "Pinterest", "redditbot", "Mastodon", "Bluesky Cardyb", "Iframely", "Embedly",
		"vkShare", "Viber", "Snap URL Preview", "Google-PageRenderer", "Google Favicon", "MicrosoftPreview", "ZoomBot", "Synapse", "Nextcloud Server",
	}},
	{looker, []string{ // watch that sites are up
		"UptimeRobot", "Pingdom", "StatusCake", "Site24x7", "Better Uptime", "Better Stack", "Datadog", "NewRelicPinger", "NewRelicSynthetics",
		"GoogleStackdriverMonitoring", "Amazon-Route53-Health-Check", "ELB-HealthChecker", "GoogleHC", "kube-probe", "HetrixTools", "Uptime-Kuma",
		"Zabbix", "check_http", "Cronitor", "Freshping", "updown.io", "Checkly", "Uptimia", "Prometheus", "Blackbox Exporter",
	}},
}

// robotOf recognises robots that say who they are. A name inside what a browser
// sends counts only beside the marks by which robots tell themselves apart:
// "compatible;" or an address of somebody to ask.
func robotOf(userAgent string) robot {
	if strings.HasPrefix(userAgent, "Mozilla/") && !strings.Contains(userAgent, "http") && !strings.Contains(userAgent, "compatible;") {
		return nobot
	}
	for i := range robots {
		for _, name := range robots[i].names {
			if strings.Contains(userAgent, name) {
				return robots[i].kind
			}
		}
	}
	return nobot
}
