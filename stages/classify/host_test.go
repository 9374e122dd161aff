package classify

import (
	"net/http/httptest"
	"testing"
)

func TestHost(t *testing.T) {
	for host, good := range map[string]bool{
		"example.com":          true,
		"example.com:8443":     true,
		"example.com:":         true,
		"shop_1.example":       true,
		"203.0.113.9":          true,
		"[2001:db8::1]":        true,
		"[2001:db8::1]:8080":   true,
		"":                     false,
		":8080":                false,
		"example.com:80x":      false,
		"user@example.com":     false,
		"a b":                  false,
		"a/b":                  false,
		`a\b`:                  false,
		"a,b":                  true, // a sub-delimiter, odd as it is
		`"quoted"`:             false,
		"<script>":             false,
		"caf\u00e9.example":    false,
		"2001:db8::1":          false,
		"[2001:db8::1":         false,
		"[2001:db8::1]x":       false,
		"[203.0.113.9]":        false,
		"[fe80::1%eth0]":       false,
		"[]":                   false,
		"[":                    false,
		"a\r\nX-Injected: yes": false,
	} {
		if validHost(host) != good {
			t.Errorf("validHost(%q) = %v, want %v", host, !good, good)
		}
	}
}

func TestHostHeaderBesideAuthority(t *testing.T) {
	eye, p := build(t, Config{})
	for line, want := range map[string]int{"example.com": 418, "EXAMPLE.com": 418, "evil.example": 400} {
		r := httptest.NewRequest("GET", "/", nil)
		r.ProtoMajor = 2
		r.Header["Host"] = []string{line}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code != want || w.Header().Get("Connection") != "" {
			t.Errorf("Host %q beside example.com: %d, Connection %q; want %d and none", line, w.Code, w.Header().Get("Connection"), want)
		}
	}
	if eye.visits != 2 {
		t.Errorf("%d visits let through, want 2", eye.visits)
	}
}
