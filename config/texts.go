package config

import (
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// checked is text that has to please ok.
func checked(at func(*Config) *string, want string, ok func(string) error) binding {
	return bound[string]{at, codec[string]{
		Shape:  Shape{Kind: KindText, Want: want},
		parse:  func(text string) (string, error) { return text, nil },
		format: func(v string) string { return v },
		check:  ok,
	}}
}

// checkListen accepts what net.Listen can make sense of.
func checkListen(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
			return misfit("write :" + addr)
		}
		return misfit("")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return misfit("with a port number up to 65535")
	}
	if _, err := netip.ParseAddr(host); host == "" || err == nil || isHostName(host) {
		return nil
	}
	return misfit("")
}

// checkPath accepts what the operating system takes for a path.
func checkPath(path string) error {
	if strings.ContainsRune(path, 0) {
		return misfit("")
	}
	return nil
}

// isHostName reports whether s is made of what host names are made of.
func isHostName(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		alnum := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !alnum && r != '-' && r != '.' && r != '_'
	}) < 0
}

// checkCookiePath and checkCookieDomain accept what net/http writes into a
// cookie; anything else it would drop, with no more than a log line.
func checkCookiePath(path string) error {
	c := http.Cookie{Name: "name", Path: path}
	if !strings.HasPrefix(path, "/") || c.Valid() != nil {
		return misfit("")
	}
	return nil
}

func checkCookieDomain(domain string) error {
	c := http.Cookie{Name: "name", Domain: domain}
	if domain != "" && c.Valid() != nil {
		return misfit("")
	}
	return nil
}

// headerName is a field name in canonical form, or nothing.
func headerName(at func(*Config) *string) binding {
	return bound[string]{at, codec[string]{
		Shape: Shape{Kind: KindText, Want: "the name of an HTTP header, or nothing"},
		parse: func(text string) (string, error) {
			return textproto.CanonicalMIMEHeaderKey(text), nil
		},
		format: func(v string) string { return v },
		check: func(v string) error {
			if v != "" && !httpguts.ValidHeaderFieldName(v) {
				return misfit("")
			}
			return nil
		},
	}}
}

// origin is the URL of the site behind Concert.
func origin(at func(*Config) **url.URL) binding {
	return bound[*url.URL]{at, codec[*url.URL]{
		Shape: Shape{Kind: KindURL, Want: "an http, https or h2c URL with a host, and without query or fragment"},
		parse: parseOrigin,
		format: func(u *url.URL) string {
			if u == nil {
				return ""
			}
			return u.String()
		},
		check: checkOrigin,
	}}
}

func parseOrigin(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err == nil && (u.Host != "" || isOriginScheme(u.Scheme)) {
		return u, nil
	}
	if text != "" && !strings.Contains(text, "/") && !strings.Contains(text, "@") {
		return nil, misfit("write http://" + text)
	}
	// The error of url.Parse repeats the text, which may hold a password.
	return nil, misfit("")
}

func isOriginScheme(s string) bool { return s == "http" || s == "https" || s == "h2c" }

func checkOrigin(u *url.URL) error {
	if u == nil || !isOriginScheme(u.Scheme) {
		return misfit("")
	}
	if u.Hostname() == "" || u.Opaque != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return misfit("")
	}
	if u.User != nil {
		return misfit("leave out user and password, which would not be sent")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return misfit("use a port from 1 to 65535")
		}
	}
	return nil
}

// redactUserinfo hides the credentials of a URL. Of one that does not parse it
// hides too much rather than too little.
func redactUserinfo(text string) string {
	const hidden = "xxxxx"
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if u.User != nil {
			u.User = url.User(hidden)
		}
		return u.String()
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	_, rest, ok := strings.Cut(text[:at], "//")
	if !ok {
		rest = text[:at]
	}
	return text[:at-len(rest)] + hidden + text[at:]
}
