package queue

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestJudge(t *testing.T) {
	const page = "text/html,*/*;q=0.8"
	tests := []struct {
		name, method string
		options      []option
		want         caller
		wantHTML     caller // with APIJSON off
	}{
		{"no Accept", "GET", nil, program, browser},
		{"anything", "GET", []option{accept("*/*")}, program, browser},
		{"json", "GET", []option{accept("application/json")}, program, browser},
		{"capitals", "GET", []option{accept("TEXT/HTML")}, browser, browser},
		{"weighted", "GET", []option{accept("application/json, text/html;q=0.1")}, browser, browser},
		{"two lines", "GET", []option{accept("application/json"), accept("text/html")}, browser, browser},
		{"weight of zero", "GET", []option{accept("text/html;q=0")}, program, browser},

		{"document", "GET", []option{accept(page), header("Sec-Fetch-Dest", "document")}, browser, browser},
		{"iframe", "GET", []option{accept(page), header("Sec-Fetch-Dest", "iframe")}, browser, browser},
		{"frame", "GET", []option{accept(page), header("Sec-Fetch-Dest", "frame")}, browser, browser},
		{"fetch", "GET", []option{accept("*/*"), header("Sec-Fetch-Dest", "empty")}, program, browser},
		{"fetch of html", "GET", []option{accept(page), header("Sec-Fetch-Dest", "empty")}, program, browser},
		{"image", "GET", []option{accept("image/avif,*/*"), header("Sec-Fetch-Dest", "image")}, part, part},
		{"style", "GET", []option{accept("text/css"), header("Sec-Fetch-Dest", "style")}, part, part},
		{"manifest", "GET", []option{header("Sec-Fetch-Dest", "manifest")}, part, part},
		{"destination of the future", "GET", []option{accept(page), header("Sec-Fetch-Dest", "hologram")}, part, part},
		{"page through a service worker", "GET", []option{accept(page), header("Sec-Fetch-Dest", "empty"), header("Sec-Fetch-Mode", "navigate")}, browser, browser},
		{"form through a service worker", "POST", []option{accept(page), header("Sec-Fetch-Dest", "empty"), header("Sec-Fetch-Mode", "navigate")}, form, form},
		{"link that downloads, as Chromium sends it", "GET", []option{header("Sec-Fetch-Dest", "empty"), header("Sec-Fetch-Mode", "navigate")}, program, browser},
		{"program that offers h2c", "GET", []option{accept("*/*"), header("Connection", "Upgrade, HTTP2-Settings"), header("Upgrade", "h2c")}, program, browser},
		{"program that offers h2c and posts", "POST", []option{accept("*/*"), header("Connection", "Upgrade, HTTP2-Settings"), header("Upgrade", "h2c")}, program, form},
		{"socket", "GET", []option{header("Connection", "Upgrade"), header("Upgrade", "websocket")}, part, part},

		{"head", "HEAD", []option{accept(page)}, glimpse, glimpse},
		{"preflight", "OPTIONS", []option{header("Origin", "https://a.example"), header("Access-Control-Request-Method", "PUT")}, part, part},
		{"trace", "TRACE", nil, part, part},

		{"prefetch", "GET", []option{accept(page), header("Sec-Purpose", "prefetch")}, glimpse, glimpse},
		{"prerender", "GET", []option{accept(page), header("Sec-Purpose", "prefetch;prerender")}, glimpse, glimpse},
		{"old prefetch", "GET", []option{accept(page), header("Purpose", "Prefetch")}, glimpse, glimpse},
		{"old preview", "GET", []option{accept(page), header("X-Purpose", "preview")}, glimpse, glimpse},
		{"older prefetch", "GET", []option{accept(page), header("X-Moz", "prefetch")}, glimpse, glimpse},
		{"another purpose", "GET", []option{accept(page), header("Sec-Purpose", "shopping")}, browser, browser},

		{"form", "POST", []option{accept(page)}, form, form},
		{"navigated form", "POST", []option{accept(page), header("Sec-Fetch-Dest", "document")}, form, form},
		{"put", "PUT", []option{accept(page)}, form, form},
		{"unusual method", "PURGE", []option{accept(page)}, form, form},
		{"program's post", "POST", []option{accept("application/json")}, program, form},
		{"fetched post", "POST", []option{accept(page), header("Sec-Fetch-Dest", "empty")}, program, form},
		{"beacon", "POST", []option{header("Sec-Fetch-Dest", "report")}, part, part},
	}
	withJSON, withoutJSON := &settings{cfg: Config{APIJSON: true}}, &settings{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request(tt.method, "/", http.NoBody, tt.options...)
			if got := withJSON.judge(r, false); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
			if got := withoutJSON.judge(r, false); got != tt.wantHTML {
				t.Errorf("without JSON: got %d, want %d", got, tt.wantHTML)
			}
		})
	}
}

// TestWhoWasInIsNoRobot: a browser with a pass may call itself what it likes.
func TestWhoWasInIsNoRobot(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("User-Agent", "facebookexternalhit/1.1")
	s := &settings{cfg: Config{APIJSON: true}}
	if got := s.judge(r, false); got != glimpse {
		t.Errorf("a link preview is judged %v", got)
	}
	if got := s.judge(r, true); got != browser {
		t.Errorf("a visitor with a pass is judged %v", got)
	}
}
