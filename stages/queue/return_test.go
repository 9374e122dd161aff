package queue

import (
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/pipeline"
)

func TestReturn(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	mine := cookie(ticketOf(r.do("GET", "/", html)))
	from := func(address string) option { return header("Referer", address) }
	tests := []struct {
		name, method, query string
		options             []option
		status              int
		location, lang      string
	}{
		{"with the ticket", "GET", "?to=%2Fshop%3Fx%3D1", []option{mine}, 303, "/shop?x=1", ""},
		{"with the probe", "GET", "?to=/shop", []option{cookie(probeCookie + "=1")}, 303, "/shop", ""},
		{"without cookies", "GET", "?to=/shop", nil, 200, "", ""},
		{"nowhere", "GET", "?to=", []option{mine}, 303, "/", ""},
		{"another host", "GET", "?to=//evil.example/", []option{mine}, 303, "/", ""},
		{"another host, bent", "GET", `?to=/\evil.example/`, []option{mine}, 303, "/", ""},
		{"another site", "GET", "?to=https://evil.example/", []option{mine}, 303, "/", ""},
		{"header in the address", "GET", "?to=/%0d%0aSet-Cookie:x", []option{mine}, 303, "/", ""},
		{"a language", "GET", "?lang=de", []option{from("http://example.com/shop?x=1")}, 303, "/shop?x=1", "de"},
		{"a language, capitals", "GET", "?lang=ZH-HANS", []option{from("http://example.com/")}, 303, "/", "zh-Hans"},
		{"an unknown language", "GET", "?lang=xx", []option{from("http://example.com/shop")}, 303, "/shop", ""},
		{"from elsewhere", "GET", "?lang=de", []option{from("http://evil.example/shop")}, 303, "/", "de"},
		{"from nowhere", "GET", "?lang=de", nil, 303, "/", "de"},
		{"from a path like a host", "GET", "?lang=de", []option{from("http://example.com//evil.example")}, 303, "/", "de"},
		{"head", "HEAD", "?to=/shop", []option{mine}, 303, "/shop", ""},
		{"options", "OPTIONS", "", nil, 204, "", ""},
		{"post", "POST", "?lang=de", nil, 405, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := r.do(tt.method, returnPath+tt.query, append(tt.options, html)...)
			if w.Code != tt.status || w.Header().Get("Location") != tt.location {
				t.Errorf("status %d, Location %q; want %d, %q", w.Code, w.Header().Get("Location"), tt.status, tt.location)
			}
			want := ""
			if tt.lang != "" {
				want = pipeline.LanguageCookie + "=" + tt.lang + "; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
			}
			if got := w.Header().Get("Set-Cookie"); got != want {
				t.Errorf("cookie %q, want %q", got, want)
			}
			if w.Code < 400 {
				checkPrivate(t, w)
			}
		})
	}
	if r.seen() != "" {
		t.Errorf("the origin got %s", r.seen())
	}
	if n := r.stage.Stats().Cookieless; n != 1 {
		t.Errorf("%d were told about cookies, want 1", n)
	}
}

func TestCookielessAreToldOnce(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	w := r.do("GET", "/shop?x=<1>", html)
	_, rest, _ := strings.Cut(w.Body.String(), `http-equiv="refresh" content="`)
	_, next, found := strings.Cut(rest, ";url=")
	next, _, _ = strings.Cut(next, `"`)
	if !found || next != "/queue/return?to=/shop%3Fx%3D%3C1%3E" {
		t.Fatalf("the page goes on at %q", next)
	}
	told := r.do("GET", next, html)
	body := told.Body.String()
	if !strings.Contains(body, "Cookies are needed") || strings.Contains(body, "refresh") || !strings.Contains(body, `href="/shop?x=&lt;1&gt;"`) {
		t.Errorf("body %.2000s", body)
	}
	if strings.Contains(body, StatusPath) || strings.Contains(body, `id="position">`) {
		t.Error("the page carries a mark of the waiting page")
	}
	// Who has shown that cookies work is not sent that way again.
	again := r.do("GET", "/shop", html, cookie(ticketOf(w)))
	if strings.Contains(again.Body.String(), returnPath+"?to=") {
		t.Error("the cookies are tried again")
	}
}

func TestBackNeedsAnAddressOfThisHost(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	for _, target := range []string{"//evil.example/", "/" + strings.Repeat("x", 2000)} {
		req := request("GET", "/", nil, html)
		req.RequestURI = target
		if body := r.send(req).Body.String(); strings.Contains(body, returnPath+"?to=") || !strings.Contains(body, `content="3`) {
			t.Errorf("%.30s: the page carries the address along", target)
		}
	}
}

func TestLanguages(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	tests := []struct {
		name    string
		options []option
		lang    string
		text    string
	}{
		{"none", nil, "en", "You are in line"},
		{"by the browser", []option{header("Accept-Language", "de-AT,de;q=0.9,en;q=0.8")}, "de", "Sie stehen in der Warteschlange"},
		{"picked", []option{header("Accept-Language", "de"), cookie(pipeline.LanguageCookie + "=ar")}, "ar", `dir="rtl"`},
		{"picked wrongly", []option{header("Accept-Language", "fr"), cookie(pipeline.LanguageCookie + "=x<y")}, "fr", "Votre place"},
	}
	for _, tt := range tests {
		w := r.do("GET", "/", append(tt.options, html)...)
		if got := w.Header().Get("Content-Language"); got != tt.lang {
			t.Errorf("%s: language %q, want %q", tt.name, got, tt.lang)
		}
		if !strings.Contains(w.Body.String(), `<html lang="`+tt.lang) || !strings.Contains(w.Body.String(), tt.text) {
			t.Errorf("%s: the page is in another language", tt.name)
		}
	}
	w := r.do("GET", LeavePath, html, header("Accept-Language", "pl"))
	if !strings.Contains(w.Body.String(), "Kolejka została opuszczona") {
		t.Error("the farewell is not in Polish")
	}
}

func TestPageIsCompressed(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	w := r.do("GET", "/", html, header("Accept-Encoding", "gzip, deflate, br, zstd"))
	if w.Header().Get("Content-Encoding") != "gzip" || !strings.HasPrefix(w.Body.String(), "\x1f\x8b") {
		t.Errorf("Content-Encoding %q", w.Header().Get("Content-Encoding"))
	}
	// The whole answer fits what a new connection may carry at once: ten
	// segments of 1460 bytes, less what a TLS handshake leaves of the first.
	var head strings.Builder
	if err := w.Header().Write(&head); err != nil {
		t.Fatal(err)
	}
	if n := len("HTTP/1.1 200 OK\r\n\r\n") + head.Len() + w.Body.Len(); n > 10*1460-500 {
		t.Errorf("the answer has %d bytes", n)
	}
	if w := r.do("GET", "/", html); w.Header().Get("Content-Encoding") != "" {
		t.Error("compressed unasked")
	}
}

func TestLeaveOfAnotherSiteIsForbidden(t *testing.T) {
	r := newRig(t, newLine(oneSlot()), nil)
	r.fill()
	mine := cookie(ticketOf(r.do("GET", "/", html)))
	w := r.do("POST", LeavePath, mine, html, header("Sec-Fetch-Site", "cross-site"))
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "Another site may not do this for you") || r.live() != 1 {
		t.Errorf("status %d, %d in line", w.Code, r.live())
	}
}
