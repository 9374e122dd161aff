package queue

import (
	"net/http"
	"strconv"
	"testing"
)

const (
	chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	google = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/140.0.0.0 Safari/537.36"
)

func TestRobots(t *testing.T) {
	f := func(want robot, userAgent string) {
		t.Helper()
		if got := robotOf(userAgent); got != want {
			t.Errorf("%q is %d, want %d", userAgent, got, want)
		}
	}
	f(nobot, "")
	f(nobot, chrome)
	f(nobot, "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]")
	f(nobot, "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)")
	f(nobot, "curl/8.14.1")
	f(nobot, "Go-http-client/2.0")
	f(crawler, google)
	f(crawler, "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)")
	f(crawler, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)")
	f(crawler, "DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)")
	f(looker, "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)")
	f(looker, "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)")
	f(looker, "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)")
	f(looker, "WhatsApp/2.24.10.77 A")
	f(looker, "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)")
	f(looker, "kube-probe/1.31")
}

// TestRobotsTakeNoPlace sends each kind to a busy site.
func TestRobotsTakeNoPlace(t *testing.T) {
	for _, tt := range []struct {
		name, userAgent string
		answer          CrawlerAnswer
		status, live    int
		crawlers        uint64
	}{
		{"person", chrome, CrawlersComeBack, http.StatusOK, 1, 0},
		{"preview", "WhatsApp/2.24", CrawlersComeBack, http.StatusServiceUnavailable, 0, 0},
		{"preview that may wait", "WhatsApp/2.24", CrawlersWait, http.StatusServiceUnavailable, 0, 0},
		{"crawler", google, CrawlersComeBack, http.StatusServiceUnavailable, 0, 1},
		{"crawler that may wait", google, CrawlersWait, http.StatusOK, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, newLine(oneSlot()), func(c *Config) { c.CrawlerAnswer = tt.answer })
			release := r.fill()
			w := r.do("GET", "/", html, header("User-Agent", tt.userAgent))
			if w.Code != tt.status || r.live() != tt.live || r.stage.Stats().Crawlers != tt.crawlers {
				t.Errorf("status %d, %d in line, %d crawlers", w.Code, r.live(), r.stage.Stats().Crawlers)
			}
			if tt.status != http.StatusOK {
				if w.Header().Get("Retry-After") == "" || w.Header()["Set-Cookie"] != nil || r.strikes.Load() != 0 {
					t.Errorf("header %v, %d strikes", w.Header(), r.strikes.Load())
				}
			}
			if n, _ := strconv.Atoi(w.Header().Get("Retry-After")); tt.crawlers > 0 && n < 600 {
				t.Errorf("the crawler comes back after %d seconds", n)
			}
			release()
			if w := r.do("GET", "/", html, header("User-Agent", tt.userAgent), cookie(ticketOf(w))); w.Body.String() != "from the origin" {
				t.Errorf("with a slot free: status %d", w.Code)
			}
		})
	}
}

func TestCrawlerAnswerIsChecked(t *testing.T) {
	c := newRig(t, newLine(oneSlot()), nil).stage.live.Load().cfg
	c.CrawlerAnswer = CrawlersWait + 1
	if _, err := New(c); err == nil {
		t.Error("an answer that there is not was taken")
	}
}

func BenchmarkRobotOf(b *testing.B) {
	for name, userAgent := range map[string]string{"browser": chrome, "crawler": google, "curl": "curl/8.14.1"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				robotOf(userAgent)
			}
		})
	}
}
